// Sums of distances inside the clusters of many clusterings, from one block of the distance matrix at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel.hpp"
#include "vectors.hpp"

namespace consilience {

// Sum of distance[j] over j with labels[j] == label; eight running sums, so every build adds in the same order.
// A product, not a choice between distance and 0: GCC 12 vectorises the choice wrongly. Distances are finite.
inline double sum_where(const double* distance, const std::int32_t* labels, std::size_t n, std::int32_t label) {
  return on_widest([=](auto) CONSILIENCE_LAMBDA {
    double sum[8] = {};
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8)
      for (std::size_t t = 0; t < 8; ++t) sum[t] += double(labels[j + t] == label) * distance[j + t];
    for (std::size_t t = 0; j + t < n; ++t) sum[t] += double(labels[j + t] == label) * distance[j + t];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  });
}

// block holds the distances of the objects begin .. begin+rows-1 to the objects begin .. begin+columns-1.
// sums[q * clusters + c] += the distances of pairs i < j of the block that lie in cluster c of clustering q.
// labels is m x n, one row per clustering, -1 missing.
inline void within_sums(const double* block, std::size_t rows, std::size_t columns, std::size_t begin,
                        const std::int32_t* labels, std::size_t m, std::size_t n, std::size_t clusters, int threads,
                        double* sums) {
  parallel_for(m, threads, [&](std::size_t q, std::size_t) {
    const std::int32_t* own = labels + q * n + begin;
    for (std::size_t i = 0; i < rows; ++i)
      if (own[i] >= 0)
        sums[q * clusters + std::size_t(own[i])] +=
            sum_where(block + i * columns + i + 1, own + i + 1, columns - i - 1, own[i]);
  });
}

}  // namespace consilience
