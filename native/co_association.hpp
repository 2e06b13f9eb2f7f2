// Co-association of rows of labels, as distances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors.hpp"

namespace consilience {

// A row's labels (none: -2, which no other has) and their weights, clustering after clustering. Labels are held as floating-point
// numbers, so that comparing them and adding weights is work on vectors of one width.
struct OwnLabel {
  double label, weight;
};

CONSILIENCE_INLINE void distances_of(const double* labels, std::size_t n, std::size_t r, const OwnLabel* own, bool missing,
                                     double* agree, double* both, double* distance) {
  for (std::size_t j = 0; j < n; ++j) agree[j] = 0, both[j] = missing ? 0.0 : double(r);
  for (std::size_t q = 0; q < r; ++q) {
    const double *const label = labels + q * n, mine = own[q].label, weight = own[q].weight;
    if (mine < 0) continue;
    for (std::size_t j = 0; j < n; ++j) agree[j] += label[j] == mine ? weight : 0.0;
    if (missing)
      for (std::size_t j = 0; j < n; ++j) both[j] += label[j] >= 0 ? 1.0 : 0.0;
  }
  for (std::size_t j = 0; j < n; ++j) distance[j] = both[j] > 0 ? (both[j] - agree[j]) / both[j] : 1.0;
}

// The same for weights of 1 and labels below 255 in bytes (255: none), counted in bytes too, a few clusterings at a time.
CONSILIENCE_INLINE void byte_distances_of(const std::uint8_t* labels, std::size_t n, std::size_t r, const std::uint8_t* own,
                                          bool missing, std::uint8_t* few, std::uint32_t* agree, std::uint32_t* both,
                                          double* distance) {
  constexpr std::size_t kFew = 255;  // that a byte can count
  for (std::size_t j = 0; j < n; ++j) agree[j] = 0, both[j] = missing ? 0 : std::uint32_t(r);
  for (std::size_t begin = 0; begin < r; begin += kFew) {
    const std::size_t end = std::min(begin + kFew, r);
    for (std::size_t j = 0; j < n; ++j) few[j] = 0;
    for (std::size_t q = begin; q < end; ++q) {
      const std::uint8_t *const label = labels + q * n, mine = own[q];
      if (mine == 255) continue;
      for (std::size_t j = 0; j < n; ++j) few[j] = std::uint8_t(few[j] + (label[j] == mine));
    }
    for (std::size_t j = 0; j < n; ++j) agree[j] += few[j];
    if (!missing) continue;
    for (std::size_t j = 0; j < n; ++j) few[j] = 0;
    for (std::size_t q = begin; q < end; ++q) {
      const std::uint8_t* const label = labels + q * n;
      if (own[q] == 255) continue;
      for (std::size_t j = 0; j < n; ++j) few[j] = std::uint8_t(few[j] + (label[j] != 255));
    }
    for (std::size_t j = 0; j < n; ++j) both[j] += few[j];
  }
  for (std::size_t j = 0; j < n; ++j)
    distance[j] = both[j] > 0 ? (double(both[j]) - double(agree[j])) / double(both[j]) : 1.0;
}

inline void byte_distances(const std::int32_t* columns, std::size_t n, std::size_t r, bool missing, double* distance) {
  constexpr std::size_t kBlock = 512;
  std::vector<std::uint8_t> labels(r * kBlock), mine(r), few(kBlock);
  std::vector<std::uint32_t> agree(kBlock), both(kBlock);
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t size = std::min(kBlock, n - first);
    for (std::size_t q = 0; q < r; ++q)
      for (std::size_t j = 0; j < size; ++j) labels[q * size + j] = std::uint8_t(columns[q * n + first + j]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t q = 0; q < r; ++q) mine[q] = std::uint8_t(columns[q * n + i]);
      on_widest([=, others = labels.data(), own = mine.data(), some = few.data(), sum = agree.data(),
                 count = both.data()](auto) CONSILIENCE_LAMBDA {
        byte_distances_of(others, size, r, own, missing, some, sum, count, distance + i * n + first);
      });
    }
  }
}

// distance[i][j] = 1 - (the weights of the labels that rows i and j share) / (clusterings that label both), and 1 where none
// does; the diagonal by the same rule. `columns` is clustering-major (r x n), offset[q] + y the place of label y of clustering q.
inline void row_distances(const std::int32_t* columns, std::size_t n, std::size_t r, const std::int64_t* offset,
                          const double* weight, bool missing, double* distance) {
  const bool plain = std::all_of(weight, weight + offset[r], [](double one) { return one == 1.0; });
  if (plain && std::all_of(columns, columns + r * n, [](std::int32_t y) { return y < 255; }))
    return byte_distances(columns, n, r, missing, distance);
  constexpr std::size_t kBlock = 512;  // others whose labels and sums stay in the cache
  std::vector<OwnLabel> mine(r);
  std::vector<double> labels(r * kBlock), agree(kBlock), both(kBlock);
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t size = std::min(kBlock, n - first);
    for (std::size_t q = 0; q < r; ++q)
      for (std::size_t j = 0; j < size; ++j) labels[q * size + j] = double(columns[q * n + first + j]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t q = 0; q < r; ++q) {
        const std::int32_t label = columns[q * n + i];
        mine[q] = label < 0 ? OwnLabel{-2, 0} : OwnLabel{double(label), weight[offset[q] + label]};
      }
      on_widest([=, others = labels.data(), own = mine.data(), sum = agree.data(),
                 count = both.data()](auto) CONSILIENCE_LAMBDA {
        distances_of(others, size, r, own, missing, sum, count, distance + i * n + first);
      });
    }
  }
}

}  // namespace consilience
