# CL consensus of hard partitions by least squares, soft (SE) and hard (HE).
suppressMessages(library(clue))

consensus <- function(method) function(read) {
  labels <- read("labels")
  k <- read("k")[1]
  ensemble <- cl_ensemble(list = lapply(seq_len(ncol(labels)), function(j) as.cl_hard_partition(labels[, j] + 1)))
  function(seed) {
    set.seed(seed)
    as.integer(cl_class_ids(cl_consensus(ensemble, method = method, control = list(k = k))))
  }
}
soft_euclidean <- consensus("SE")
hard_euclidean <- consensus("HE")
