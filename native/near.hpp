// Scores of all clusters in single precision, near enough to tell which few deserve an exact look.
//
// What an entry x adds to a cell T is phi(T + x) - phi(T) = x (1 + the mean of log over [T, T + x]), and that mean is
// log(T^2 + b T x + x^2 / e^2) / 2 with b = 1.03 to .035 at the worst, a small T beside x, exactly at T = 0, and to a few
// thousandths from T = x on: one logarithm a cell and no division.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vectors.hpp"

namespace consilience {

// log x for positive normal x, to about 1e-6.
CONSILIENCE_INLINE float quick_log(float x) {
  std::int32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::int32_t e = (bits - 0x3F3504F3) >> 23;  // x / 2^e lies in [sqrt(1/2), sqrt(2))
  const std::int32_t m_bits = bits - e * 0x800000;
  float m;
  std::memcpy(&m, &m_bits, 4);
  const float f = m - 1;  // log(1 + f) / f through its Chebyshev points
  const float slope =
      1.000001072883606f +
      f * (-0.500008761882782f +
           f * (0.3331356346607208f +
                f * (-0.2492033690214157f + f * (0.2052544355392456f + f * (-0.18573839962482452f + f * 0.11657806485891342f)))));
  return float(e) * 0.6931472f + f * slope;
}

class NearScores {
 public:
  static constexpr float kError = 0.05f;  // of a row's mass: clusters this close to the best are looked at exactly

  NearScores() = default;
  NearScores(std::size_t lines, std::size_t clusters)
      : padded_((clusters + 7) / 8 * 8), table_(lines * padded_, 0.0f), scores_(padded_, 0.0f) {}

  // A line is a column's cells, or a view's totals.
  float& at(std::size_t line, std::size_t cluster) { return table_[line * padded_ + cluster]; }
  float* scores() { return scores_.data(); }

  void clear() { entries_.clear(); }
  void add(std::size_t line, float x, float weight) {
    entries_.push_back({std::uint32_t(line), x, weight});
#if defined(__GNUC__)
    __builtin_prefetch(table_.data() + line * padded_);
    __builtin_prefetch(table_.data() + line * padded_ + 16);
#endif
  }

  // scores[c] = sum over the entries of weight * (mean log over [T, T + x] in cluster c); in `own`, over [T - x, T].
  void score(std::size_t own) {
    if (has_avx2())
      score_avx2();
    else
      score_with();
    float sum = 0;
    for (const Entry& entry : entries_) {
      const float below = at(entry.line, own) - entry.x;
      sum += entry.weight * mean_log(below > 0 ? below : 0.0f, entry.x);
    }
    scores_[own] = sum;
  }

 private:
  struct Entry {
    std::uint32_t line;
    float x, weight;
  };
  std::size_t padded_ = 0;
  std::vector<float> table_, scores_;
  std::vector<Entry> entries_;

  static CONSILIENCE_INLINE float mean_log(float t, float x) {
    return 0.5f * quick_log(t * t + 1.03f * t * x + x * x * 0.13533528f);
  }

  CONSILIENCE_AVX2 void score_avx2() { score_with(); }

  CONSILIENCE_INLINE void score_with() {
    float* const sum = scores_.data();
    const std::size_t width = padded_, count = entries_.size();
    for (std::size_t c = 0; c < width; ++c) sum[c] = 0;
    for (std::size_t e = 0; e < count; ++e) {
      const float x = entries_[e].x, weight = 0.5f * entries_[e].weight, slope = 1.03f * x, square = x * x * 0.13533528f;
      const float* const t = table_.data() + entries_[e].line * width;
      for (std::size_t c = 0; c < width; ++c) sum[c] += weight * quick_log(t[c] * (t[c] + slope) + square);
    }
  }
};

}  // namespace consilience
