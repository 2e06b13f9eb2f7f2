// When k-means must look at a point again, and when it may trust what floats say.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "vectors.hpp"

namespace consilience {

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

// Hamerly's bounds (2010), kept as appointments. A point whose second center is `gap` farther than its own keeps its label
// until the centers have moved so much: its own by m_c, the others by at most max m. clock[c] sums m_c + max m over the
// steps, so that a point scored at clock[c] = t need not be looked at before clock[c] = t + gap.
class Appointments {
 public:
  void begin(std::size_t k, std::size_t n) {
    moved_.assign(k, 0.0);
    due_.resize(n);
    early_.resize(k);
    late_.resize(k);
    reset();
  }

  // Center c has moved so far; infinity if it was nowhere.
  void move(std::size_t c, double distance) { moved_[c] = distance; }

  // Lets the clocks run on by what has moved. True if a center came from nowhere: all appointments are void.
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
      clock_[c] += step;
      early_[c] = float(clock_[c] * (1 - 1e-6));
      late_[c] = float(clock_[c] * (1 + 1e-6));
    }
    all_ += most;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    return false;
  }

  // An appointment of any point, in the time of all_, which runs at least as fast as every clock.
  bool all_before(float due) const { return float(all_ * (1 + 1e-6)) < due; }
  float all_after(float gap) const { return float(all_ * (1 - 1e-6)) + gap; }

  float* due() { return due_.data(); }
  const float* early() const { return early_.data(); }  // the clocks, rounded down: to make appointments
  const float* late() const { return late_.data(); }    // and up: to keep them

 private:
  void reset() {
    clock_.assign(moved_.size(), 0.0);
    all_ = 0;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::fill(due_.begin(), due_.end(), -1.0f);
    std::fill(early_.begin(), early_.end(), 0.0f);
    std::fill(late_.begin(), late_.end(), 0.0f);
  }

  std::vector<double> moved_, clock_;
  std::vector<float> due_, early_, late_;  // early_ and late_ are clock_, rounded down and up
  double all_ = 0;
};

}  // namespace consilience
