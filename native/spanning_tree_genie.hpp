// The minimum spanning tree of points, and the merges that Genie makes of its edges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "vectors.hpp"

namespace consilience {

// Squared distances of one point to those outside the tree, columns of `others` that are `stride` apart.
CONSILIENCE_INLINE void squares_of(const double* own, const double* others, std::size_t stride, std::size_t width, std::size_t d,
                                   double* square) {
  for (std::size_t j = 0; j < width; ++j) square[j] = 0;
  for (std::size_t q = 0; q < d; ++q) {
    const double* const column = others + q * stride;
    const double mine = own[q];
    for (std::size_t j = 0; j < width; ++j) square[j] += (column[j] - mine) * (column[j] - mine);
  }
}

// Prim's tree from point 0 on: O(n^2 d) time and no more memory than the points. With `core`, two points are as far apart as the
// largest of their distance and their cores. Of points equally near the tree the lowest number comes next, tied to the point that came
// first. Edges (lower number, higher) come by rising length, then by their numbers.
inline void spanning_tree(const double* points, const double* core, std::size_t n, std::size_t d, std::int64_t* edges, double* lengths) {
  struct Edge {
    double square;
    std::int64_t a, b;
    bool operator<(const Edge& o) const { return std::tie(square, a, b) < std::tie(o.square, o.a, o.b); }
  };
  constexpr std::size_t kBlock = 1024;  // points at a time, whose sums stay in the cache
  // What is outside the tree stands in columns without gaps: the last one takes the place of what leaves.
  std::vector<double> others(n * d), nearest(n, std::numeric_limits<double>::infinity()), radius(n, 0.0), square(kBlock), own(d);
  std::vector<std::int64_t> item(n), partner(n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    item[j] = std::int64_t(j);
    if (core) radius[j] = core[j] * core[j];
    for (std::size_t q = 0; q < d; ++q) others[q * n + j] = points[j * d + q];
  }
  std::vector<Edge> found;
  std::size_t next = 0;
  for (std::size_t width = n; width > 0;) {
    const std::int64_t taken = item[next];
    const double mine = radius[next];
    if (width < n) found.push_back({nearest[next], std::min(taken, partner[next]), std::max(taken, partner[next])});
    --width;
    for (std::size_t q = 0; q < d; ++q) {
      own[q] = others[q * n + next];
      others[q * n + next] = others[q * n + width];
    }
    item[next] = item[width], partner[next] = partner[width], nearest[next] = nearest[width], radius[next] = radius[width];
    next = 0;
    for (std::size_t begin = 0; begin < width; begin += kBlock) {
      const std::size_t size = std::min(kBlock, width - begin);
      on_widest([o = own.data(), c = others.data() + begin, n, size, d, s = square.data()](auto) CONSILIENCE_LAMBDA {
        squares_of(o, c, n, size, d, s);
      });
      for (std::size_t j = begin; j < begin + size; ++j) {
        const double away = std::max(square[j - begin], std::max(mine, radius[j]));
        if (away < nearest[j]) nearest[j] = away, partner[j] = taken;
        if (nearest[j] < nearest[next] || (nearest[j] == nearest[next] && item[j] < item[next])) next = j;
      }
    }
  }
  for (Edge& edge : found) edge.square = std::sqrt(edge.square);  // squares that differ by rounding alone are equal lengths
  std::sort(found.begin(), found.end());
  for (std::size_t e = 0; e < found.size(); ++e)
    edges[2 * e] = found[e].a, edges[2 * e + 1] = found[e].b, lengths[e] = found[e].square;
}

// Sizes of clusters, and the sum over pairs of |a - b|: O(log n) a change, by Fenwick's trees of how many have a size, and of their sum.
class Sizes {
 public:
  explicit Sizes(std::size_t n) : total_(std::int64_t(n)), own_(n + 1, 0), count_(n + 1, 0), sum_(n + 1, 0) {
    for (std::size_t i = 0; i < n; ++i) add(1, 1);
  }
  std::int64_t least() {  // sizes only grow, and so does the least
    while (!own_[least_]) ++least_;
    return std::int64_t(least_);
  }
  double gini() const { return clusters_ > 1 ? double(apart_) / (double(clusters_ - 1) * double(total_)) : 0.0; }
  void merge(std::int64_t a, std::int64_t b) {
    add(a, -1);
    add(b, -1);
    add(a + b, 1);
  }

 private:
  void add(std::int64_t size, std::int64_t by) {
    if (by < 0) change(size, by);
    std::int64_t count = 0, sum = 0;
    for (std::size_t i = std::size_t(size); i; i &= i - 1) count += count_[i], sum += sum_[i];
    apart_ += by * (size * (2 * count - clusters_) + held_ - 2 * sum);
    if (by > 0) change(size, by);
  }
  void change(std::int64_t size, std::int64_t by) {
    own_[std::size_t(size)] += by;
    clusters_ += by, held_ += by * size;
    for (std::size_t i = std::size_t(size); i < count_.size(); i += i & (~i + 1)) count_[i] += by, sum_[i] += by * size;
  }
  std::int64_t total_, clusters_ = 0, held_ = 0, apart_ = 0;
  std::size_t least_ = 1;
  std::vector<std::int64_t> own_, count_, sum_;
};

// Genie: M. Gagolewski, M. Bartoszuk and A. Cena, Information Sciences 363, 2016. The n - 1 edges of a tree, by rising length, are merged in
// order; while the Gini index of the sizes is above `gini`, the shortest edge of a cluster of the least size goes before. An edge without
// one has none until that size is gone, and there are at most n / size edges then: O(n log n).
inline void genie_merges(const std::int64_t* edges, std::size_t n, double gini, std::int64_t* merges) {
  const std::size_t m = n - 1;
  std::vector<std::size_t> root(n), after(m + 1), before(m + 1);
  std::vector<std::int64_t> size(n, 1), node(n);
  std::iota(root.begin(), root.end(), 0);
  std::iota(node.begin(), node.end(), 0);
  for (std::size_t e = 0; e <= m; ++e) after[e] = e == m ? 0 : e + 1, before[e] = e ? e - 1 : m;  // m: both ends
  const auto find = [&](std::int64_t x) {
    std::size_t i = std::size_t(x);
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  Sizes sizes(n);
  std::size_t looked = 0;  // the first edge that may be of a cluster of the least size
  std::int64_t least = 0;
  for (std::size_t done = 0; done < m; ++done) {
    const bool uneven = sizes.gini() > gini;
    std::size_t e = after[m];
    if (uneven) {
      if (least != sizes.least()) least = sizes.least(), looked = e;
      for (e = looked; size[find(edges[2 * e])] != least && size[find(edges[2 * e + 1])] != least;) e = after[e];
    }
    std::size_t a = find(edges[2 * e]), b = find(edges[2 * e + 1]);
    if (uneven || looked == e) looked = after[e];
    after[before[e]] = after[e], before[after[e]] = before[e];
    merges[2 * done] = std::min(node[a], node[b]), merges[2 * done + 1] = std::max(node[a], node[b]);
    sizes.merge(size[a], size[b]);
    if (size[a] < size[b]) std::swap(a, b);
    root[b] = a, size[a] += size[b], node[a] = std::int64_t(n + done);
  }
}

}  // namespace consilience
