// Words that are not everyday English, explained once: for tooltips and the help.

/** @type {Record<string, string>} */
export const GLOSSARY = {
  clustering: "one way to put all objects into clusters",
  cluster: "objects that a clustering puts together",
  group: "clusterings that are alike: a branch of the tree below the cut, numbered by size",
  branch: "a node of the tree and all clusterings under it",
  medoid: "the most central clustering of a group: one that was really made",
  consensus:
    "one clustering that all clusterings of a branch vote for; an object's support is the share of them that agree",
  confidence: "the probability that an independent ensemble of the same kind puts an object in the same cluster",
  support: "the share of the branch's clusterings that put an object where it is",
  floater: "an object that at most half of the branch's clusterings put where it is, drawn hollow",
  pinned: "the clustering whose colors all others are aligned to",
  linkage: "how the difference of two branches is taken from those of their clusterings",
  compactness: "the mean distance of objects in the same cluster, on the standardized data: lower is tighter",
  accuracy: "the share of objects that a clustering puts as the known labels do, its clusters matched to them",
  "mean difference": "how far a clustering is from all others on average: high is unusual",
  "Cluster Difference": "the share of pairs of objects that one clustering keeps together and the other parts",
  stress: "how much the map distorts the differences: 0 is perfect, above 0.2 is rough",
  clusters: "how many clusters it has",
  "stands for": "how many clusterings of the branch it is shown for",
  "this is": "the clustering that was really made",
  alpha: "how unequal the random weights of the columns were: 0 is equal",
  unit: "which of the clusterings of its seed it is",
  steps: "passes that k-means took",
  inertia: "the sum of squared distances to the centers of the clusters",
};

/** What a word means; "" for everyday ones. @param {string} word */
export const explain = (word) => GLOSSARY[word.startsWith("accuracy:") ? "accuracy" : word] ?? "";
