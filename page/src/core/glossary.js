// Words that are not everyday English, explained once: for tooltips, heads of tables and the help.

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
  reliability: "how far a clustering agrees with what the others say, at its own fineness: 0 is chance, 1 is the most",
  "better without it": "whether the consensus of the branch is better when this clustering is left out",
  component: "objects that no clustering of the branch separates",
  pinned: "the clustering whose colors all others are aligned to",
  brushed: "clusterings inside the frame that was drawn on the scores",
  linkage: "how the difference of two branches is taken from those of their clusterings",
  "merged at": "the difference at which the two halves of the branch were joined; Ward's grows with their sizes",
  compactness: "the mean distance of objects in the same cluster, on the standardized data: lower is tighter",
  purity: "the share of objects of the largest known label of their cluster; several clusters may be of one label",
  "mean difference": "how far a clustering is from all others on average: high is unusual",
  "cluster difference":
    "the share of pairs of objects that one clustering keeps together and the other parts; 0 is the same clustering",
  "normalized mutual information": "what one clustering tells of the other, from 0, nothing, to 1, the same clustering",
  "adjusted Rand index": "pairs on which both agree, beyond chance: 1 is the same clustering, 0 is what chance gives",
  "Jaccard index": "pairs together in both, of pairs together in either: 1 is the same",
  "variation of information": "what each clustering tells that the other does not, in nats: 0 is the same clustering",
  likeness: "objects in both, of objects in either (Jaccard index): 1 is a cluster of just these",
  "of pairs": "the share of the pairs of picked objects that it keeps in one cluster",
  "in clusters": "over how many of its clusters the picked objects are spread",
  "effect size d":
    "Cohen's d: how far the mean of the cluster lies from the mean of the rest, in standard deviations; " +
    "the line is its 95 % interval",
  rest: "the mean of all objects outside the cluster",
  low: "the lower end of the 95 % interval of d",
  high: "the upper end of the 95 % interval of d",
  davies_bouldin: "how near clusters lie to each other for their width (Davies–Bouldin index): lower is better",
  silhouette: "how much nearer objects are to their own cluster than to the next one, from −1 to 1: higher is better",
  variation_stability: "how little a clustering changes when the data are varied a little: higher is better",
  information: "how much the clusters of rows and of columns tell of each other: higher is better",
  guide: "how near a clustering comes to what guided its making: higher is better",
  stress: "how much the map distorts the differences: 0 is perfect, above 0.2 is rough",
  across: "where it lies on the map from left, 0, to right, 1: only distances mean something",
  up: "where it lies on the map from bottom, 0, to top, 1: only distances mean something",
  "principal components": "the directions in which the data vary most; the first two make the picture",
  clusters: "how many clusters it has",
  agreement: "the share of objects that it puts in the cluster that matches theirs in the consensus",
  "of the first": "the share of the objects of the first cluster that go this way",
  "of the second": "the share of the objects of the second cluster that come this way",
  usual: "the median number of clusters of the clusterings: what their consensus has by default",
  "stands for": "how many clusterings of the branch it is shown for",
  "this is": "the clustering that was really made",
  "closest to": "the known labels that it comes closest to, with the share of objects that it puts as they do",
  stability: "how alike the clusterings of one step are: 1 is all the same",
  "share in groups": "the share of them that is in a set of two or more",
  method: "what was clustered: the columns (zipf) or their principal components (pca), with random weights",
  alpha: "how unequal the random weights of the columns were: 0 is equal",
  seed: "the number that its random draws began from: the same one makes the same clustering",
  unit: "which of the clusterings of its seed it is",
  steps: "passes that k-means took",
  inertia: "the sum of squared distances to the centers of the clusters",
  seconds: "how long it took to make",
};

/** @type {Record<string, string>} other forms of the same words */
const FORMS = {
  clusterings: "clustering",
  groups: "group",
  floaters: "floater",
  components: "component",
  n_clusters: "clusters",
  d: "effect size d",
  "merged at difference": "merged at",
  accuracy_sem: "purity",
};

/** What a word means; "" for everyday ones. @param {string} word */
export function explain(word) {
  const plain = word.replace(/^mean of /, "").replace(/^(accuracy|purity):.*/, "purity");
  return GLOSSARY[FORMS[plain] ?? plain] ?? "";
}
