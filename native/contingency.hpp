// Counts of label pairs: one table, and the sums over the tables of all pairs of many clusterings.
//
// Labels are 0 .. k-1, missing is -1. Tables add up: counting two halves of the objects into one table gives the
// table of all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "parallel.hpp"
#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

// table[a_i * columns + b_i] += weight_i for every object labeled in both; `weights` may be null (ones).
template <class Count>
void contingency(const std::int32_t* a, const std::int32_t* b, const Count* weights, std::size_t n,
                 std::size_t columns, Count* table) {
  for (std::size_t i = 0; i < n; ++i)
    if (a[i] >= 0 && b[i] >= 0)
      table[std::size_t(a[i]) * columns + std::size_t(b[i])] += weights ? weights[i] : Count(1);
}

// What is summed over the cells of a table: x^2 (pair counting) or x log x (information).
struct Square {
  using Sum = std::uint64_t;
  Sum operator()(std::uint64_t x) const { return x * x; }
};
struct XLogXTerm {
  using Sum = double;
  const XLogX& phi;
  Sum operator()(std::uint64_t x) const { return phi(x); }
};

// Clusterings as codes, one row per clustering, with the largest code of the type as "missing".
template <class Code>
struct Codes {
  const Code* data;
  std::size_t m, n;
  const std::int32_t* clusters;  // k of each clustering

  static constexpr Code kMissing = Code(-1);
  const Code* row(std::size_t i) const { return data + i * n; }
};

// Sums for the pairs (a, b), 0 <= a < m, begin <= b < end, at [a * (end - begin) + b - begin]:
// joint over the cells, own over the row totals (clusters of a), other over the column totals (clusters of b),
// known the number of objects labeled in both. The last three are null when no label is missing.
template <class Sum>
struct PairSums {
  std::size_t begin, end;
  Sum *joint, *own, *other;
  std::int64_t* known;

  std::size_t width() const { return end - begin; }
};

template <class Code>
std::size_t check_label(Code label, std::size_t k) {
  if (std::size_t(label) >= k) throw std::invalid_argument("a label is outside its clustering's range");
  return std::size_t(label);
}

// Throws unless every label of every clustering is below its k.
template <class Code>
void check_labels(const Codes<Code>& codes, std::size_t begin = 0) {
  for (std::size_t b = begin; b < codes.m; ++b)
    for (std::size_t i = 0; i < codes.n; ++i)
      if (codes.row(b)[i] != Codes<Code>::kMissing) check_label(codes.row(b)[i], std::size_t(codes.clusters[b]));
}

// Which of k + 1 counters a label belongs to; the last is for the missing.
template <class Code>
std::size_t code_slot(Code y, std::size_t k) {
  return y == Codes<Code>::kMissing ? k : std::size_t(y);
}

// The objects of one clustering, cluster by cluster.
class Grouping {
 public:
  template <class Code>
  void sort(const Code* labels, std::size_t n, std::size_t k) {
    start_.assign(k + 1, 0);
    for (std::size_t i = 0; i < n; ++i)
      if (labels[i] != Codes<Code>::kMissing) ++start_[1 + check_label(labels[i], k)];
    for (std::size_t c = 0; c < k; ++c) start_[c + 1] += start_[c];
    at_.assign(start_.begin(), start_.end());
    order_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      if (labels[i] != Codes<Code>::kMissing) order_[at_[std::size_t(labels[i])]++] = std::uint32_t(i);
  }
  std::size_t clusters() const { return start_.size() - 1; }
  const std::uint32_t* objects(std::size_t c) const { return order_.data() + start_[c]; }
  std::size_t size(std::size_t c) const { return start_[c + 1] - start_[c]; }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> start_, at_;
};

// --- Few clusters: kLanes clusterings side by side, one byte each -------------------------------------------------

constexpr std::size_t kLanes = 32;

// Counts the labels first .. first+R-1 among `size` <= 255 objects, in every lane: R byte counters in registers.
template <int R, class Bytes>
CONSILIENCE_INLINE void count_some(const std::uint8_t* block, const std::uint32_t* objects, std::size_t size,
                                   int first, std::uint32_t* cells) {
  Bytes count[R] = {};
  for (std::size_t t = 0; t < size; ++t) {
    Bytes x;
    std::memcpy(&x, block + kLanes * objects[t], sizeof x);
    for (int r = 0; r < R; ++r) add_where_equal(count[r], x, std::uint8_t(first + r));
  }
  std::uint8_t bytes[R][sizeof(Bytes)];
  std::memcpy(bytes, count, sizeof bytes);
  for (int r = 0; r < R; ++r)
    for (std::size_t lane = 0; lane < sizeof(Bytes); ++lane) cells[kLanes * std::size_t(first + r) + lane] += bytes[r][lane];
}

// cells[kLanes * y + lane] = how many of the objects have label y in that lane's clustering.
template <class Bytes>
CONSILIENCE_INLINE void count_lanes_by(const std::uint8_t* block, const std::uint32_t* objects, std::size_t size,
                                       int k, std::uint32_t* cells) {
  std::fill(cells, cells + kLanes * std::size_t(k), 0u);
  for (std::size_t part = 0; part < kLanes; part += sizeof(Bytes))
    for (std::size_t done = 0; done < size; done += 255) {  // a byte counts to 255
      const std::size_t some = std::min<std::size_t>(255, size - done);
      const std::uint32_t* at = objects + done;
      const std::uint8_t* in = block + part;
      std::uint32_t* out = cells + part;
      int first = 0;
      for (; k - first >= 8; first += 8) count_some<8, Bytes>(in, at, some, first, out);
      if (k - first >= 4) count_some<4, Bytes>(in, at, some, first, out), first += 4;
      if (k - first >= 2) count_some<2, Bytes>(in, at, some, first, out), first += 2;
      if (k - first >= 1) count_some<1, Bytes>(in, at, some, first, out);
    }
}

inline void count_lanes(const std::uint8_t* block, const std::uint32_t* objects, std::size_t size, int k,
                        std::uint32_t* cells) {
  on_widest([=](auto width) CONSILIENCE_LAMBDA {
    count_lanes_by<typename decltype(width)::Bytes>(block, objects, size, k, cells);
  });
}

inline void add_terms(const Square&, const std::uint32_t* cells, int k, std::uint64_t* sum) {
  on_widest([=](auto) CONSILIENCE_LAMBDA {
    for (std::size_t y = 0; y < std::size_t(k); ++y)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sum[lane] += std::uint64_t(cells[kLanes * y + lane]) * cells[kLanes * y + lane];
  });
}
inline void add_terms(const XLogXTerm& f, const std::uint32_t* cells, int k, double* sum) {
  for (std::size_t y = 0; y < std::size_t(k); ++y)
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum[lane] += f(cells[kLanes * y + lane]);
}

template <class Term>
struct LaneSums {
  using Sum = typename Term::Sum;
  Sum joint[kLanes], own[kLanes], other[kLanes];
  std::int64_t known[kLanes];
  std::vector<std::uint32_t> cells, columns;

  void run(const Grouping& a, const std::uint8_t* block, int k, const Term& f, bool margins) {
    cells.resize(kLanes * std::size_t(k));
    std::fill(joint, joint + kLanes, Sum(0));
    if (margins) {
      columns.assign(kLanes * std::size_t(k), 0);
      std::fill(own, own + kLanes, Sum(0));
      std::fill(other, other + kLanes, Sum(0));
      std::fill(known, known + kLanes, 0);
    }
    for (std::size_t c = 0; c < a.clusters(); ++c) {
      count_lanes(block, a.objects(c), a.size(c), k, cells.data());
      add_terms(f, cells.data(), k, joint);
      if (margins) add_margins(k, f);
    }
    if (margins) add_terms(f, columns.data(), k, other);
  }

 private:
  void add_margins(int k, const Term& f) {
    std::uint32_t total[kLanes] = {};
    for (std::size_t y = 0; y < std::size_t(k); ++y)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        total[lane] += cells[kLanes * y + lane];
        columns[kLanes * y + lane] += cells[kLanes * y + lane];
      }
    for (std::size_t lane = 0; lane < kLanes; ++lane) known[lane] += total[lane];
    add_terms(f, total, 1, own);
  }
};

// Above about this many clusters counting one pair at a time is faster (measured).
inline int lane_clusters() { return has_avx2() ? 80 : 48; }

// --- Many clusters: one pair at a time, counters only for the clusters of b ----------------------------------------

template <class Term>
struct OneSum {
  using Sum = typename Term::Sum;
  Sum joint, own, other;
  std::int64_t known;
  std::vector<std::uint32_t> count, columns;

  template <class Code>
  void run(const Grouping& a, const Code* b, std::size_t k, const Term& f, bool margins) {
    joint = own = other = Sum(0);
    known = 0;
    count.assign(k + 1, 0);  // the last counter takes the missing
    if (margins) columns.assign(k + 1, 0);
    for (std::size_t c = 0; c < a.clusters(); ++c) {
      const std::uint32_t* objects = a.objects(c);
      const std::size_t size = a.size(c);
      for (std::size_t t = 0; t < size; ++t) ++count[code_slot(b[objects[t]], k)];
      const std::uint32_t missing = count[k];
      count[k] = 0;
      for (std::size_t t = 0; t < size; ++t) {  // each cell counts once: it is zero when met again
        std::uint32_t& cell = count[code_slot(b[objects[t]], k)];
        joint += f(cell);
        if (margins) columns[code_slot(b[objects[t]], k)] += cell;
        cell = 0;
      }
      if (margins) {
        own += f(size - missing);
        known += std::int64_t(size - missing);
      }
    }
    if (margins)
      for (std::size_t y = 0; y < k; ++y) other += f(columns[y]);
  }
};

// --- All pairs ------------------------------------------------------------------------------------------------------

// The clusterings begin .. end-1 in groups of kLanes, side by side where that is faster; checks their labels.
template <class Code>
class LaneBlocks {
 public:
  const std::size_t groups;

  LaneBlocks(const Codes<Code>& codes, std::size_t begin, std::size_t end, int threads)
      : groups((end - begin + kLanes - 1) / kLanes), n_(codes.n), width_(end - begin), widest_(groups, 1) {
    check_labels(Codes<Code>{codes.data, end, codes.n, codes.clusters}, begin);
    for (std::size_t b = begin; b < end; ++b) {
      int& k = widest_[(b - begin) / kLanes];
      k = std::max(k, int(codes.clusters[b]));
    }
    for (std::size_t g = 0; g < groups; ++g)
      if (used(g)) blocks_.assign(groups * n_ * kLanes, 0xFF);
    parallel_for(groups, threads, [&](std::size_t g, std::size_t) {
      if (!used(g)) return;
      for (std::size_t lane = 0; lane < kLanes && begin + g * kLanes + lane < end; ++lane) {
        const Code* labels = codes.row(begin + g * kLanes + lane);
        std::uint8_t* block = blocks_.data() + g * n_ * kLanes + lane;
        for (std::size_t i = 0; i < n_; ++i) block[i * kLanes] = std::uint8_t(labels[i]);
      }
    });
  }

  // Lanes cost the same however few are used: about a fifth of k single pairs (measured).
  bool used(std::size_t g) const {
    const std::size_t lanes = std::min(kLanes, width_ - g * kLanes);
    return std::is_same<Code, std::uint8_t>::value && widest_[g] <= lane_clusters() && 5 * lanes >= std::size_t(widest_[g]);
  }
  int widest(std::size_t g) const { return widest_[g]; }
  const std::uint8_t* block(std::size_t g) const { return blocks_.data() + g * n_ * kLanes; }

 private:
  std::size_t n_, width_;
  std::vector<int> widest_;           // largest k of each group
  std::vector<std::uint8_t> blocks_;  // objects x lanes, for groups with few clusters
};

template <class Code, class Term>
void pair_sums(const Codes<Code>& codes, const Term& f, int threads, PairSums<typename Term::Sum> out) {
  const std::size_t width = out.width(), n = codes.n;
  const bool margins = out.own != nullptr;
  const LaneBlocks<Code> blocks(codes, out.begin, out.end, threads);
  struct Scratch {
    Grouping grouping;
    LaneSums<Term> lanes;
    OneSum<Term> one;
  };
  std::vector<Scratch> scratch(workers(codes.m, threads));
  parallel_for(codes.m, threads, [&](std::size_t a, std::size_t worker) {
    Scratch& s = scratch[worker];
    s.grouping.sort(codes.row(a), n, std::size_t(codes.clusters[a]));
    auto store = [&](std::size_t j, auto joint, auto own, auto other, std::int64_t known) {
      const std::size_t at = a * width + j;
      out.joint[at] = joint;
      if (!margins) return;
      out.own[at] = own;
      out.other[at] = other;
      out.known[at] = known;
    };
    for (std::size_t g = 0; g < blocks.groups; ++g) {
      const std::size_t first = g * kLanes, last = std::min(first + kLanes, width);
      if (blocks.used(g)) {
        s.lanes.run(s.grouping, blocks.block(g), blocks.widest(g), f, margins);
        for (std::size_t j = first; j < last; ++j) {
          const std::size_t lane = j - first;
          store(j, s.lanes.joint[lane], s.lanes.own[lane], s.lanes.other[lane], s.lanes.known[lane]);
        }
        continue;
      }
      for (std::size_t j = first; j < last; ++j) {
        const std::size_t b = out.begin + j;
        s.one.run(s.grouping, codes.row(b), std::size_t(codes.clusters[b]), f, margins);
        store(j, s.one.joint, s.one.own, s.one.other, s.one.known);
      }
    }
  });
}

}  // namespace consilience
