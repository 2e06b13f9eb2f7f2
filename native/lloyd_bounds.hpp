// When k-means must look at a point again, and when it may trust what floats say.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "vectors.hpp"

namespace consilience::kmeans {

// The score of a center that is nowhere: beyond any other, since tables are scaled to numbers below 2.
constexpr float kFar = 1e30f;

// Bound of the rounding error of scores b_c - x . a_c. With p = |w x| and q = |w c| their terms sum to at most
// q^2 + 2 p q: below 12 p^2 where q < 2.5 p, and below 9 times the score itself beyond.
struct Rounding {
  float score;  // in shares of the terms of a score
  float power;  // in shares of p^2

  // `summed` numbers are added for a score one after the other, `features` for p^2.
  Rounding(std::size_t summed, std::size_t features)
      : score(float(double(summed + 5) * 0x1.0p-24)), power(float(double(features + 5) * 0x1.0p-24)) {}

  // The last term covers floats too small to be exact.
  CONSILIENCE_INLINE float error(float largest, float squared) const {
    const float terms = 12.0f * squared > 9.0f * largest ? 12.0f * squared : 9.0f * largest;
    return score * terms + 1e-35f;
  }
};

// Hamerly's bounds (2010), with the upper and the lower one of a point in a single number. A point whose second center is `gap`
// farther than its own keeps its label until the centers have moved so much: its own by m_c, the others by at most max m. The drift
// of center c sums m_c + max m over the steps, so that a point scored at drift t need not be scored again before the drift exceeds
// its limit t + gap.
class HamerlyBounds {
 public:
  void begin(std::size_t k, std::size_t n) {
    moved_.assign(k, 0.0);
    limit_.resize(n);
    drift_down_.resize(k);
    drift_up_.resize(k);
    reset();
  }

  // Center c has moved so far; infinity if it was nowhere.
  void move(std::size_t c, double distance) { moved_[c] = distance; }

  // Adds what has moved to the drifts. True if a center came from nowhere: all limits are void.
  bool advance() {
    const std::size_t far = std::size_t(std::max_element(moved_.begin(), moved_.end()) - moved_.begin());
    if (std::isinf(moved_[far])) {
      reset();
      return true;
    }
    double second = 0, most = 0;
    for (std::size_t c = 0; c < moved_.size(); ++c)
      if (c != far) second = std::max(second, moved_[c]);
    for (std::size_t c = 0; c < moved_.size(); ++c) {
      const double step = moved_[c] + (c == far ? second : moved_[far]);
      most = std::max(most, step);
      drift_[c] += step;
      drift_down_[c] = float(drift_[c] * (1 - 1e-6));
      drift_up_[c] = float(drift_[c] * (1 + 1e-6));
    }
    largest_drift_ += most;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    return false;
  }

  // A limit of any point in terms of the largest drift, which grows at least as fast as every other.
  bool within(float limit) const { return float(largest_drift_ * (1 + 1e-6)) < limit; }
  float limit_after(float gap) const { return float(largest_drift_ * (1 - 1e-6)) + gap; }

  float* limit() { return limit_.data(); }
  const float* drift_down() const { return drift_down_.data(); }  // rounded down: to set limits
  const float* drift_up() const { return drift_up_.data(); }    // and up: to check them

 private:
  void reset() {
    drift_.assign(moved_.size(), 0.0);
    largest_drift_ = 0;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::fill(limit_.begin(), limit_.end(), -1.0f);
    std::fill(drift_down_.begin(), drift_down_.end(), 0.0f);
    std::fill(drift_up_.begin(), drift_up_.end(), 0.0f);
  }

  std::vector<double> moved_, drift_;
  std::vector<float> limit_, drift_down_, drift_up_;  // drift_down_ and drift_up_ are drift_, rounded down and up
  double largest_drift_ = 0;
};

}  // namespace consilience::kmeans
