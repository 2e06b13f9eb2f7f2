// Colors that depend neither on the order of rows and clusterings nor on the names of labels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace consilience {

inline std::uint64_t mix(std::uint64_t x) {  // the finalizer of splitmix64
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// rows[i] = mix(own[i] + the colors of the labels of row i), and sums[y] += rows[i] for every row i with label y. Sums wrap
// around, so they are exact in any order; missing labels (-1) have no color.
inline void color_rows(const std::int32_t* labels, std::size_t n, std::size_t r, const std::int64_t* offset,
                       const std::uint64_t* color, const std::uint64_t* own, std::uint64_t* rows, std::uint64_t* sums) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t* const row = labels + i * r;
    std::uint64_t sum = own[i];
    for (std::size_t q = 0; q < r; ++q)
      if (row[q] >= 0) sum += color[offset[q] + row[q]];
    rows[i] = sum = mix(sum);
    for (std::size_t q = 0; q < r; ++q)
      if (row[q] >= 0) sums[offset[q] + row[q]] += sum;
  }
}

}  // namespace consilience
