// Scores of a block of points against all centers: the inner loop of dense k-means.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "lloyd_bounds.hpp"
#include "vectors.hpp"

namespace consilience::kmeans {

constexpr std::size_t kBlock = 16;  // points side by side, [feature][point]
constexpr std::size_t kGroup = 4;   // centers scored together, [feature][center]; the last group may be smaller
constexpr std::size_t kChunk = 64;  // features summed before they are added to the rest: shorter sums err less

struct DenseCenters {
  std::size_t k, d;
  const float *slope, *offset;  // a_c, b_c
  const float* drift;           // from which limits are set
  Rounding rounding;
};

template <class Floats, class Ints, int V>
struct Nearest {
  Floats best[V] = {}, second[V] = {};
  Ints index[V] = {}, center = {}, one = {};  // the number of the center now scored, and 1
};

// sum[c] -= x . slope[c], over `count` features.
template <int C, class Floats, int V>
CONSILIENCE_INLINE void subtract_products(const float* x, const float* slope, std::size_t count, Floats (&sum)[C][V]) {
  constexpr std::size_t kWidth = sizeof(Floats) / sizeof(float);
  for (std::size_t j = 0; j < count; ++j) {
    Floats at[V] = {};
    for (int v = 0; v < V; ++v) load(at[v], x + j * kBlock + std::size_t(v) * kWidth);
    for (int c = 0; c < C; ++c) {
      Floats a = {};
      broadcast(a, slope + j * C + c);
      for (int v = 0; v < V; ++v) sum[c][v] = sum[c][v] - at[v] * a;
    }
  }
}

template <int C, class Floats, class Ints, int V>
CONSILIENCE_INLINE void score_group(const float* x, const DenseCenters& centers, std::size_t first,
                                    Nearest<Floats, Ints, V>& nearest) {
  const float* slope = centers.slope + first * centers.d;
  Floats score[C][V] = {};
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < V; ++v) broadcast(score[c][v], centers.offset + first + c);
  if (centers.d <= kChunk) {
    subtract_products<C>(x, slope, centers.d, score);
  } else {
    for (std::size_t j = 0; j < centers.d; j += kChunk) {
      Floats sum[C][V] = {};
      subtract_products<C>(x + j * kBlock, slope + j * C, std::min(kChunk, centers.d - j), sum);
      for (int c = 0; c < C; ++c)
        for (int v = 0; v < V; ++v) score[c][v] = score[c][v] + sum[c][v];
    }
  }
  for (int c = 0; c < C; ++c) {
    for (int v = 0; v < V; ++v) {
      Floats other = score[c][v];
      Ints smaller = {}, unused = {};
      take_larger(other, nearest.best[v]);
      take_smaller(nearest.second[v], other, unused);
      take_smaller(nearest.best[v], score[c][v], smaller);
      put_where(nearest.index[v], smaller, nearest.center);
    }
    nearest.center = nearest.center + nearest.one;
  }
}

CONSILIENCE_INLINE float least(const float* values) {
  float low[4] = {values[0], values[1], values[2], values[3]};
  for (std::size_t t = 4; t < kBlock; t += 4)
    for (std::size_t u = 0; u < 4; ++u) low[u] = values[t + u] < low[u] ? values[t + u] : low[u];
  return std::min(std::min(low[0], low[1]), std::min(low[2], low[3]));
}

// What scoring finds of the points of a block.
struct DenseBlock {
  std::int32_t nearest[kBlock];  // -1 where rounding could have changed it
  float limit[kBlock];             // when they must be scored again
  float gap;                     // how much farther the second center is than the nearest, at least
};

template <class Floats, class Ints>
CONSILIENCE_INLINE void score_block_by(const DenseCenters& centers, const float* x, const float* power, DenseBlock& block) {
  constexpr std::size_t kWidth = sizeof(Floats) / sizeof(float);
  constexpr int V = int(kBlock / kWidth);
  static const float beyond = 2 * kFar;
  static const std::int32_t ones[kBlock] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  Nearest<Floats, Ints, V> now;
  for (int v = 0; v < V; ++v) broadcast(now.best[v], &beyond), broadcast(now.second[v], &beyond);
  load(now.one, ones);
  std::size_t c = 0;
  for (; c + kGroup <= centers.k; c += kGroup) score_group<kGroup>(x, centers, c, now);
  switch (centers.k - c) {
    case 3: score_group<3>(x, centers, c, now); break;
    case 2: score_group<2>(x, centers, c, now); break;
    case 1: score_group<1>(x, centers, c, now); break;
    default: break;
  }
  float low[kBlock], high[kBlock];
  for (int v = 0; v < V; ++v) {
    store(low + std::size_t(v) * kWidth, now.best[v]);
    store(high + std::size_t(v) * kWidth, now.second[v]);
    store(block.nearest + std::size_t(v) * kWidth, now.index[v]);
  }
  // From scores to squared distances, the nearest rounded up and the second down, and to the gap between their roots:
  // a - b = (a^2 - b^2) / (a + b), and a <= (a^2 + r^2) / 2r for any r, closely for one like a.
  float drift[kBlock], sum = 0;
  for (std::size_t t = 0; t < kBlock; ++t) {
    const float error = centers.rounding.error(high[t], power[t]), more = error + centers.rounding.power * power[t];
    drift[t] = centers.drift[block.nearest[t]];
    block.nearest[t] |= -std::int32_t(high[t] - low[t] <= 2.0f * error);
    low[t] += power[t] + more;
    high[t] += power[t] - more;
  }
  for (std::size_t t = 0; t < kBlock; ++t) sum += low[t];
  const float r = std::sqrt(std::max(sum / float(kBlock), 1e-30f));
  for (std::size_t t = 0; t < kBlock; ++t) {
    const float sum_of_squares = (high[t] > 0 ? high[t] : 0.0f) + (low[t] > 0 ? low[t] : 0.0f);
    high[t] = 1.9999f * r * (high[t] - low[t]) / (sum_of_squares + 2.0f * r * r);
    block.limit[t] = block.nearest[t] < 0 ? -1.0f : drift[t] + high[t];  // in doubt: at once
  }
  block.gap = least(high);
}
inline void score_block(const DenseCenters& centers, const float* x, const float* power, DenseBlock& block) {
  const auto body = [](auto width, const DenseCenters* centers, const float* x, const float* power,
                       DenseBlock* block) CONSILIENCE_LAMBDA {
    score_block_by<typename decltype(width)::Floats, typename decltype(width)::Ints>(*centers, x, power, *block);
  };
  on_widest(body, &centers, x, power, &block);
}

// How far the points of a block are from their limits, and the least of it.
inline float slack(const float* limit, const float* drift, const std::int32_t* labels, float* left) {
  const auto body = [](auto, const float* limit, const float* drift, const std::int32_t* labels,
                       float* left) CONSILIENCE_LAMBDA {
    for (std::size_t t = 0; t < kBlock; ++t) left[t] = limit[t] - drift[std::max(labels[t], 0)];
    return least(left);
  };
  return on_widest(body, limit, drift, labels, left);
}

}  // namespace consilience::kmeans
