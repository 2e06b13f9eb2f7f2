# Run one side of a task in R: what run_side.py does, with the arrays of the task as CSV files.
#   Rscript run_side.R SIDE.R FUNCTION FOLDER PACKAGE

pdf(NULL)  # what draws shall leave no Rplots.pdf where it was called
arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[1])
folder <- arguments[3]
call <- get(arguments[2])(function(name) as.matrix(read.csv(file.path(folder, paste0(name, ".csv")), header = FALSE)))

peak_mb <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
cost <- function(seed) {
  before <- proc.time()
  answer <- call(seed)
  spent <- proc.time() - before
  list(cpu = sum(spent[c(1, 2, 4, 5)], na.rm = TRUE), wall = spent[[3]], answer = answer)
}

before <- peak_mb()
first <- cost(0)
costs <- if (first$cpu < 2) list() else list(first)
runs <- if (first$cpu < 0.3) 5 else if (first$cpu < 60) 3 else 1
while (length(costs) < runs) costs[[length(costs) + 1]] <- cost(length(costs))
for (seed in seq_along(costs))
  write.table(costs[[seed]]$answer, file.path(folder, sprintf("answer_%d.csv", seed - 1)), sep = ",", row.names = FALSE, col.names = FALSE)
numbers <- function(name) paste(vapply(costs, function(one) one[[name]], 0), collapse = ", ")
cat(sprintf('{"cpu_s": [%s], "wall_s": [%s], "before_mb": %f, "peak_mb": %f, "version": "%s"}\n', numbers("cpu"), numbers("wall"),
            before, peak_mb(), packageVersion(arguments[4])), file = file.path(folder, "cost.json"))
