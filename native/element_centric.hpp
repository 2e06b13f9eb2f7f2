// Element-centric similarity: what an object's two clusters share over the larger of them.
//
// With x objects in a cell of the contingency table and a, b in its row and column, each of the x objects scores x / max(a, b),
// so a cell adds x^2 / max(a, b) to the sum over objects. Only objects labeled in both clusterings count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "contingency.hpp"
#include "parallel.hpp"
#include "vectors.hpp"

namespace consilience {

// The cells of one pair of clusterings that are not empty, row by row, with the totals of rows and columns.
class Cells {
 public:
  struct Cell {
    std::uint32_t column, count;
  };
  std::vector<Cell> cells;
  std::vector<std::size_t> start;         // of each row's cells, and the end
  std::vector<std::uint32_t> own, other;  // totals
  std::int64_t known = 0;

  template <class Code>
  void count(const Grouping& a, const Code* b, std::size_t k) {
    count_.assign(k + 1, 0);  // the last counter takes the missing
    own.assign(a.clusters(), 0);
    other.assign(k, 0);
    cells.clear();
    start.assign(1, 0);
    known = 0;
    for (std::size_t c = 0; c < a.clusters(); ++c) {
      const std::uint32_t* objects = a.objects(c);
      const std::size_t size = a.size(c);
      for (std::size_t t = 0; t < size; ++t) ++count_[code_slot(b[objects[t]], k)];
      own[c] = std::uint32_t(size) - count_[k];
      known += own[c];
      count_[k] = 0;
      for (std::size_t t = 0; t < size; ++t) {  // each cell is taken once: it is zero when met again
        const std::size_t y = code_slot(b[objects[t]], k);
        if (count_[y] == 0) continue;
        cells.push_back({std::uint32_t(y), count_[y]});
        other[y] += count_[y];
        count_[y] = 0;
      }
      start.push_back(cells.size());
    }
  }

  double larger(std::size_t row, const Cell& cell) const { return double(std::max(own[row], other[cell.column])); }

  double overlap() const {
    double sum = 0;
    for (std::size_t c = 0; c < own.size(); ++c)
      for (std::size_t t = start[c]; t < start[c + 1]; ++t)
        sum += double(cells[t].count) * double(cells[t].count) / larger(c, cells[t]);
    return sum;
  }

 private:
  std::vector<std::uint32_t> count_;
};

// sum[lane] += x^2 / max(size, column) for the cells of one row in every lane.
inline void add_overlaps(const std::uint32_t* cells, const double* columns, int k, double size, double* sum) {
  on_widest([=](auto) CONSILIENCE_LAMBDA {
    for (std::size_t y = 0; y < std::size_t(k); ++y)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t at = kLanes * y + lane;
        const double x = double(std::int32_t(cells[at])), column = columns[at];
        sum[lane] += x * x / (column > size ? column : size);
      }
  });
}

// For the pairs a <= b, begin <= b < end, at [a * (end - begin) + b - begin]: the similarity summed over objects, and how many objects
// are labeled in both; other places are left as they are. `known` is null when no label is missing.
template <class Code>
void overlap_sums(const Codes<Code>& codes, std::size_t begin, std::size_t end, int threads, double* sums,
                  std::int64_t* known) {
  const std::size_t width = end - begin;
  const LaneBlocks<Code> lanes(codes, begin, end, threads);
  auto in_lanes = [&](std::size_t g) { return !known && codes.n <= INT32_MAX && lanes.used(g); };
  std::vector<std::vector<double>> columns(lanes.groups);  // cluster sizes side by side, [y * kLanes + lane]
  for (std::size_t g = 0; g < lanes.groups; ++g) {
    if (!in_lanes(g)) continue;
    columns[g].assign(kLanes * std::size_t(lanes.widest(g)), 0.0);
    for (std::size_t j = g * kLanes; j < std::min((g + 1) * kLanes, width); ++j)
      for (std::size_t i = 0; i < codes.n; ++i) {
        const Code label = codes.row(begin + j)[i];
        if (label != Codes<Code>::kMissing) ++columns[g][kLanes * std::size_t(label) + j % kLanes];
      }
  }
  struct Scratch {
    Grouping grouping;
    Cells one;
    std::vector<std::uint32_t> cells;
  };
  std::vector<Scratch> scratch(workers(codes.m, threads));
  parallel_for(codes.m, threads, [&](std::size_t a, std::size_t worker) {
    Scratch& s = scratch[worker];
    s.grouping.sort(codes.row(a), codes.n, std::size_t(codes.clusters[a]));
    for (std::size_t g = 0; g < lanes.groups; ++g) {
      const std::size_t last = std::min((g + 1) * kLanes, width), first = std::max(g * kLanes, a > begin ? a - begin : 0);
      if (first >= last) continue;
      if (in_lanes(g)) {
        double sum[kLanes] = {};
        s.cells.resize(kLanes * std::size_t(lanes.widest(g)));
        for (std::size_t c = 0; c < s.grouping.clusters(); ++c) {
          if (s.grouping.size(c) == 0) continue;
          count_lanes(lanes.block(g), s.grouping.objects(c), s.grouping.size(c), lanes.widest(g), s.cells.data());
          add_overlaps(s.cells.data(), columns[g].data(), lanes.widest(g), double(s.grouping.size(c)), sum);
        }
        std::copy(sum + first - g * kLanes, sum + last - g * kLanes, sums + a * width + first);
        continue;
      }
      for (std::size_t j = first; j < last; ++j) {
        s.one.count(s.grouping, codes.row(begin + j), std::size_t(codes.clusters[begin + j]));
        sums[a * width + j] = s.one.overlap();
        if (known) known[a * width + j] = s.one.known;
      }
    }
  });
}

// total[i] += the similarity of object i in the pairs (a, b), begin <= a < end, a < b < m. The clusterings a are added one after
// the other, so that the threads do not show in the sums: (end - begin) x n numbers are held.
template <class Code>
void object_overlaps(const Codes<Code>& codes, std::size_t begin, std::size_t end, int threads, double* total) {
  check_labels(codes);
  struct Scratch {
    Grouping grouping;
    Cells one;
    std::vector<double> score;
  };
  std::vector<Scratch> scratch(workers(end - begin, threads));
  std::vector<double> parts((end - begin) * codes.n, 0.0);
  parallel_for(end - begin, threads, [&](std::size_t unit, std::size_t worker) {
    Scratch& s = scratch[worker];
    const std::size_t a = begin + unit;
    double* part = parts.data() + unit * codes.n;
    s.grouping.sort(codes.row(a), codes.n, std::size_t(codes.clusters[a]));
    for (std::size_t b = a + 1; b < codes.m; ++b) {
      const std::size_t k = std::size_t(codes.clusters[b]);
      const Code* labels = codes.row(b);
      s.one.count(s.grouping, labels, k);
      s.score.assign(k + 1, 0.0);  // the last is that of the missing
      for (std::size_t c = 0; c < s.grouping.clusters(); ++c) {
        for (std::size_t t = s.one.start[c]; t < s.one.start[c + 1]; ++t)
          s.score[s.one.cells[t].column] = double(s.one.cells[t].count) / s.one.larger(c, s.one.cells[t]);
        const std::uint32_t* objects = s.grouping.objects(c);
        for (std::size_t t = 0; t < s.grouping.size(c); ++t)
          part[objects[t]] += s.score[code_slot(labels[objects[t]], k)];
      }
    }
  });
  for (std::size_t unit = 0; unit < end - begin; ++unit)
    for (std::size_t i = 0; i < codes.n; ++i) total[i] += parts[unit * codes.n + i];
}

}  // namespace consilience
