// The tree of weighted items.
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
