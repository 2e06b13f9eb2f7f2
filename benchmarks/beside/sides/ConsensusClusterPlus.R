# Monti's consensus clustering: every number of clusters from 2 on, k-means of 80 % of the objects.
suppressMessages(library(ConsensusClusterPlus))

monti <- function(read) {
  X <- read("X")
  k <- read("k")[1]
  runs <- read("runs")[1]
  function(seed) {
    found <- suppressMessages(ConsensusClusterPlus(t(X), maxK = k, reps = runs, pItem = 0.8, pFeature = 1, clusterAlg = "km",
                                                   distance = "euclidean", finalLinkage = "average", seed = seed + 1, plot = NULL))
    found[[k]]$consensusClass
  }
}
