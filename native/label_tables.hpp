// Rows of labels against clusters: how often every label meets every cluster, and what such tables say of a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "parallel.hpp"
#include "vectors.hpp"

namespace consilience {

// Missing labels are negative, or the largest value of a type without a sign.
template <class Label>
constexpr bool is_there(Label y) {
  if constexpr (std::is_signed_v<Label>)
    return y >= 0;
  else
    return y != Label(-1);
}

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

// One clustering's part of column_scores: the sums of rows first, ..., end - 1 have k / 4 groups of four each, as the table has.
template <class Label>
CONSILIENCE_INLINE void add_column(const Label* label, std::size_t n, const double* table, std::size_t k, double* sums) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_there(label[i])) continue;
    const double* const row = table + std::size_t(label[i]) * k;
    double* const sum = sums + i * k;
    for (std::size_t c = 0; c < k; c += 4)
      for (std::size_t t = 0; t < 4; ++t) sum[c + t] += row[c + t];
  }
}

// scores[i][c] = sum over clusterings q of table[offset[q] + columns[q][i]][c], as row_scores of clustering-major labels (r x n):
// one clustering's part of the table and few rows' sums are at hand at a time.
template <class Label>
void column_scores(const Label* columns, std::size_t n, std::size_t r, const std::int64_t* offset, const double* table,
                   std::size_t k, int threads, double* scores) {
  constexpr std::size_t kBlock = 256;
  const std::size_t wide = (k + 3) / 4 * 4;
  std::vector<double> padded(std::size_t(offset[r]) * wide);
  for (std::size_t y = 0; y < std::size_t(offset[r]); ++y)
    std::copy(table + y * k, table + (y + 1) * k, padded.begin() + std::ptrdiff_t(y * wide));
  parallel_for((n + kBlock - 1) / kBlock, threads, [&](std::size_t block, std::size_t) {
    const std::size_t first = block * kBlock, size = std::min(kBlock, n - first);
    std::vector<double> sums(size * wide);
    on_widest([=, all = padded.data(), mine = sums.data()](auto) CONSILIENCE_LAMBDA {
      for (std::size_t q = 0; q < r; ++q)
        add_column(columns + q * n + first, size, all + std::size_t(offset[q]) * wide, wide, mine);
    });
    for (std::size_t i = 0; i < size; ++i)
      std::copy(sums.begin() + std::ptrdiff_t(i * wide), sums.begin() + std::ptrdiff_t(i * wide + k),
                scores + (first + i) * k);
  });
}

// table[offset[q] + y][c] += the weights of the rows with label y in clustering q that lie in cluster c. `columns` is
// clustering-major (r x n), so that a clustering's part of the table stays in the cache; missing labels and clusters (-1)
// count nowhere. Without weights every row counts 1.
template <class Count, class Label>
void label_tables(const Label* columns, std::size_t n, std::size_t r, const std::int64_t* offset,
                  const std::int32_t* clusters, const Count* weights, std::size_t k, int threads, Count* table) {
  parallel_for(r, threads, [&](std::size_t q, std::size_t) {
    const Label* label = columns + q * n;
    Count* own = table + std::size_t(offset[q]) * k;
    for (std::size_t i = 0; i < n; ++i)
      if (is_there(label[i]) && clusters[i] >= 0)
        own[std::size_t(label[i]) * k + std::size_t(clusters[i])] += weights ? weights[i] : Count(1);
  });
}

// votes[i][c] = how many clusterings give row i a label that `owner` (one cluster for every label of every clustering) says is
// cluster c's; missing labels (-1) do not vote. `columns` is clustering-major (r x n), and few rows' votes are at hand at a time.
template <class Label>
void label_votes(const Label* columns, std::size_t n, std::size_t r, const std::int64_t* offset,
                        const std::int32_t* owner, std::size_t k, int threads, std::int32_t* votes) {
  constexpr std::size_t kBlock = 1024;
  parallel_for((n + kBlock - 1) / kBlock, threads, [&](std::size_t block, std::size_t) {
    const std::size_t first = block * kBlock, last = std::min(first + kBlock, n);
    std::fill(votes + first * k, votes + last * k, 0);
    for (std::size_t q = 0; q < r; ++q) {
      const Label* label = columns + q * n;
      const std::int32_t* own = owner + offset[q];
      for (std::size_t i = first; i < last; ++i)
        if (is_there(label[i])) ++votes[i * k + std::size_t(own[label[i]])];
    }
  });
}

}  // namespace consilience
