// Similarity of rows of labels, and the tree of weighted items.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
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

enum class Linkage { kAverage, kSingle, kComplete };

CONSILIENCE_INLINE double smallest_of(const double* row, const double* scale, std::size_t n) {
  double lane[4];
  for (double& x : lane) x = std::numeric_limits<double>::infinity();
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4)
    for (std::size_t t = 0; t < 4; ++t) {
      const double x = row[j + t] * scale[j + t];
      lane[t] = x < lane[t] ? x : lane[t];
    }
  for (; j < n; ++j) {
    const double x = row[j] * scale[j];
    lane[0] = x < lane[0] ? x : lane[0];
  }
  return std::min(std::min(lane[0], lane[1]), std::min(lane[2], lane[3]));
}

// Nearest-neighbor chains over items that stand for `weight` objects each: O(n^2) time, no memory beyond the distances, which are
// used up. A pair lives on under its lower number. Columns of what is gone are filled with the last ones, so that rows grow
// shorter; a merge is written to a list, and other rows catch up with it when they are read next: memory is only read in order.
class Tree {
 public:
  Tree(double* distance, std::size_t n, const double* weight, Linkage linkage)
      : n_(n), width_(n), average_(linkage == Linkage::kAverage), linkage_(linkage), distance_(distance),
        weight_(weight, weight + n), scale_(n, 1.0), height_(n, 0.0), place_(n), item_(n), read_(n, 0), alive_(n, 1) {
    for (std::size_t i = 0; i < n; ++i) place_[i] = item_[i] = std::uint32_t(i);
    if (!average_) return;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) distance[i * n + j] *= weight[i] * weight[j];
      scale_[i] = 1 / weight[i];
    }
  }

  // The n - 1 merges in the order they are found: kept, lost, height. Distances within `tie` are equal, and go to the lowest number.
  void build(double tie, std::int64_t* merges, double* heights) {
    std::vector<std::size_t> chain;
    std::size_t lowest = 0, done = 0;
    while (done + 1 < n_) {
      if (chain.empty()) {
        while (!alive_[lowest]) ++lowest;
        chain.push_back(lowest);
      }
      const std::size_t a = chain.back();
      const double* const row = refresh(a);
      const double own = average_ ? scale_[place_[a]] : 1.0;
      const double limit = on_widest([row, scale = scale_.data(), width = width_](auto) CONSILIENCE_LAMBDA {
        return smallest_of(row, scale, width);
      }) * own + tie;
      if (chain.size() > 1) {
        const std::size_t b = chain[chain.size() - 2];
        const double there = row[place_[b]] * scale_[place_[b]] * own;
        if (there <= limit) {
          chain.resize(chain.size() - 2);
          const double height = std::max(there, std::max(height_[a], height_[b]));
          merges[2 * done] = std::int64_t(std::min(a, b));
          merges[2 * done + 1] = std::int64_t(std::max(a, b));
          heights[done++] = height;  // rounding must not put a child above its parent
          merge(std::min(a, b), std::max(a, b), height);
          continue;
        }
      }
      std::size_t next = n_;
      for (std::size_t j = 0; j < width_; ++j)
        if (row[j] * scale_[j] * own <= limit) next = std::min<std::size_t>(next, item_[j]);
      // Each step is nearer than the last, so that no item comes twice; where one does, i -> j and j -> i differ.
      if (!std::isfinite(limit) || chain.size() >= n_ - done)
        throw std::invalid_argument("distances are not finite or not symmetric");
      chain.push_back(next);
    }
  }

 private:
  struct Merge {
    std::uint32_t kept, lost, last;  // places of columns at the time
  };

  double join(double x, double y) const {
    switch (linkage_) {
      case Linkage::kAverage: return x + y;
      case Linkage::kSingle: return std::min(x, y);
      default: return std::max(x, y);
    }
  }

  double* refresh(std::size_t a) {
    double* const row = distance_ + a * n_;
    for (std::size_t t = read_[a]; t < list_.size(); ++t) {
      const Merge& m = list_[t];
      row[m.kept] = join(row[m.kept], row[m.lost]);
      row[m.lost] = row[m.last];
    }
    read_[a] = std::uint32_t(list_.size());
    row[place_[a]] = std::numeric_limits<double>::infinity();  // itself
    return row;
  }

  void merge(std::size_t kept, std::size_t lost, double height) {
    double* const row = refresh(kept);
    const double* const other = refresh(lost);
    for (std::size_t j = 0; j < width_; ++j) row[j] = join(row[j], other[j]);
    const std::uint32_t at = place_[kept], gap = place_[lost], last = std::uint32_t(--width_);
    list_.push_back({at, gap, last});
    weight_[kept] += weight_[lost];
    if (average_) scale_[at] = 1 / weight_[kept];
    scale_[gap] = scale_[last];
    item_[gap] = item_[last];
    place_[item_[gap]] = gap;
    row[gap] = row[last];
    read_[kept] = std::uint32_t(list_.size());
    alive_[lost] = 0;
    height_[kept] = height;
  }

  std::size_t n_, width_;
  bool average_;
  Linkage linkage_;
  double* distance_;
  std::vector<double> weight_, scale_, height_;    // of items; 1 / weight by place; of items
  std::vector<std::uint32_t> place_, item_, read_; // column of an item, item of a column, merges that a row has seen
  std::vector<char> alive_;
  std::vector<Merge> list_;
};

}  // namespace consilience
