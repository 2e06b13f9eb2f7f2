// Rows of labels against clusters: how often every label meets every cluster, and what such tables say of a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "parallel.hpp"
#include "vectors.hpp"

namespace consilience {

CONSILIENCE_INLINE void add_rows(const std::int32_t* labels, std::size_t first, std::size_t end, std::size_t r,
                                 const std::int64_t* offset, const double* table, std::size_t k, double* scores) {
  for (std::size_t i = first; i < end; ++i) {
    double* const sum = scores + i * k;
    for (std::size_t q = 0; q < r; ++q) {
      const std::int32_t y = labels[i * r + q];
      if (y < 0) continue;
      const double* const row = table + std::size_t(offset[q] + y) * k;
      for (std::size_t c = 0; c < k; ++c) sum[c] += row[c];
    }
  }
}

// scores[i][c] += sum over clusterings q of table[offset[q] + labels[i][q]][c]; a missing label (-1) adds nothing.
inline void row_scores(const std::int32_t* labels, std::size_t n, std::size_t r, const std::int64_t* offset,
                       const double* table, std::size_t k, int threads, double* scores) {
  constexpr std::size_t kBlock = 4096;
  parallel_for((n + kBlock - 1) / kBlock, threads, [&](std::size_t block, std::size_t) {
    const std::size_t first = block * kBlock, end = std::min(first + kBlock, n);
    on_widest([=](auto) CONSILIENCE_LAMBDA { add_rows(labels, first, end, r, offset, table, k, scores); });
  });
}

// table[offset[q] + y][c] += the weights of the rows with label y in clustering q that lie in cluster c. `columns` is
// clustering-major (r x n), so that a clustering's part of the table stays in the cache; missing labels and clusters (-1)
// count nowhere. Without weights every row counts 1.
template <class Count>
void label_tables(const std::int32_t* columns, std::size_t n, std::size_t r, const std::int64_t* offset,
                  const std::int32_t* clusters, const Count* weights, std::size_t k, int threads, Count* table) {
  parallel_for(r, threads, [&](std::size_t q, std::size_t) {
    const std::int32_t* label = columns + q * n;
    Count* own = table + std::size_t(offset[q]) * k;
    for (std::size_t i = 0; i < n; ++i)
      if (label[i] >= 0 && clusters[i] >= 0)
        own[std::size_t(label[i]) * k + std::size_t(clusters[i])] += weights ? weights[i] : Count(1);
  });
}

// votes[i][c] = how many clusterings give row i a label that `owner` (one cluster for every label of every clustering) says is
// cluster c's; missing labels (-1) do not vote. `columns` is clustering-major (r x n), and few rows' votes are at hand at a time.
inline void label_votes(const std::int32_t* columns, std::size_t n, std::size_t r, const std::int64_t* offset,
                        const std::int32_t* owner, std::size_t k, int threads, std::int32_t* votes) {
  constexpr std::size_t kBlock = 1024;
  parallel_for((n + kBlock - 1) / kBlock, threads, [&](std::size_t block, std::size_t) {
    const std::size_t first = block * kBlock, last = std::min(first + kBlock, n);
    std::fill(votes + first * k, votes + last * k, 0);
    for (std::size_t q = 0; q < r; ++q) {
      const std::int32_t *label = columns + q * n, *own = owner + offset[q];
      for (std::size_t i = first; i < last; ++i)
        if (label[i] >= 0) ++votes[i * k + std::size_t(own[label[i]])];
    }
  });
}

}  // namespace consilience
