// What the sums of x log x over contingency tables are by chance: the objects dealt out anew, cluster sizes kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "contingency.hpp"
#include "parallel.hpp"
#include "xlogx.hpp"

namespace consilience {

// E[phi(X)] for X the objects that clusters of a and b of n objects share by chance (hypergeometric).
// From the mode outwards, each weight from the one before it; dividing by their sum needs no factorial. The weights are
// log-concave: beyond the first below kTiny of the largest, all others together do not count.
inline double expected_xlogx(std::int64_t n, std::int64_t a, std::int64_t b, const XLogX& phi) {
  constexpr double kTiny = 1e-20;
  const std::int64_t least = std::max<std::int64_t>(0, a + b - n), most = std::min(a, b);
  const std::int64_t mode =
      std::clamp(std::int64_t((double(a) + 1) * (double(b) + 1) / (double(n) + 2)), least, most);
  const double da = double(a), db = double(b), rest = double(n) - da - db;
  double weights = 1, sum = phi(std::uint64_t(mode)), w = 1;
  for (std::int64_t i = mode; i < most && w > kTiny; ++i) {
    const double x = double(i);
    w *= (da - x) * (db - x) / ((x + 1) * (rest + x + 1));
    weights += w;
    sum += w * phi(std::uint64_t(i + 1));
  }
  w = 1;
  for (std::int64_t i = mode; i > least && w > kTiny; --i) {
    const double x = double(i);
    w *= x * (rest + x) / ((da - x + 1) * (db - x + 1));
    weights += w;
    sum += w * phi(std::uint64_t(i - 1));
  }
  return sum / weights;
}

// out[i * other.size() + j] for clusters of own[i] and other[j] of n objects.
inline void expected_table(std::int64_t n, const std::int64_t* own, std::size_t rows, const std::int64_t* other,
                           std::size_t columns, int threads, double* out) {
  const auto phi = shared_xlogx(std::uint64_t(n));
  parallel_for(rows, threads, [&](std::size_t i, std::size_t) {
    for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] = expected_xlogx(n, own[i], other[j], *phi);
  });
}

// For every pair a < b, begin <= b < end, at [a * (end - begin) + b - begin]: E[phi] summed over the cells, for the clusters
// of the objects that both label. Other places are left as they are.
template <class Code>
void expected_sums(const Codes<Code>& codes, std::size_t begin, std::size_t end, int threads, double* out) {
  const auto phi = shared_xlogx(codes.n);
  using Sizes = std::vector<std::pair<std::int64_t, double>>;  // a size, and how many clusters have it
  struct Scratch {
    std::vector<std::int64_t> count[2];
    Sizes sizes[2];
  };
  auto gather = [](std::vector<std::int64_t>& count, Sizes& sizes) {
    std::sort(count.begin(), count.end());
    sizes.clear();
    for (std::int64_t size : count) {
      if (size == 0) continue;
      if (sizes.empty() || sizes.back().first != size) sizes.emplace_back(size, 0.0);
      sizes.back().second += 1;
    }
  };
  std::vector<Scratch> scratch(workers(end, threads));
  parallel_for(end, threads, [&](std::size_t a, std::size_t worker) {
    Scratch& s = scratch[worker];
    const std::size_t ka = std::size_t(codes.clusters[a]);
    for (std::size_t b = std::max(begin, a + 1); b < end; ++b) {
      const std::size_t kb = std::size_t(codes.clusters[b]);
      const Code *one = codes.row(a), *two = codes.row(b);
      s.count[0].assign(ka, 0);
      s.count[1].assign(kb, 0);
      std::int64_t n = 0;
      for (std::size_t i = 0; i < codes.n; ++i) {
        if (one[i] == Codes<Code>::kMissing || two[i] == Codes<Code>::kMissing) continue;
        ++s.count[0][check_label(one[i], ka)];
        ++s.count[1][check_label(two[i], kb)];
        ++n;
      }
      for (int side = 0; side < 2; ++side) gather(s.count[side], s.sizes[side]);
      double sum = 0;
      for (const auto& own : s.sizes[0])
        for (const auto& other : s.sizes[1])
          sum += own.second * other.second * expected_xlogx(n, own.first, other.first, *phi);
      out[a * (end - begin) + b - begin] = sum;
    }
  });
}

}  // namespace consilience
