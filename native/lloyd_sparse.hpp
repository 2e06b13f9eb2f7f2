// Sparse data for k-means: rows of (column, value), as they are (double). Lanes are clusters: each entry of a row adds
// to the scores of all centers at once. As with dense data, floats filter and doubles decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lloyd_bounds.hpp"
#include "vectors.hpp"

namespace consilience::kmeans {

class SparseTable {
 public:
  static constexpr double kNothing = 1e-12;  // a squared distance below this share of the squares is rounding

  SparseTable(const std::int64_t* start, const std::int32_t* column, const double* value, std::size_t n, std::size_t d)
      : n(n), d(d), start(start), column(column), value(value), small(std::size_t(start[n])) {
    double top = 0;
    for (std::int64_t e = 0; e < start[n]; ++e) top = std::max(top, std::fabs(value[e]));
    scale = top > 0 ? std::ldexp(1.0, std::min(-std::ilogb(top), 1000)) : 1.0;
    for (std::int64_t e = 0; e < start[n]; ++e) small[std::size_t(e)] = float(value[e] * scale);
  }

  // sum += sign * row i
  void add(std::size_t i, double sign, double* sum) const {
    for (std::int64_t e = start[i]; e < start[i + 1]; ++e) sum[column[e]] += sign * value[e];
  }
  // |w x - w c|^2 = |w c|^2 + sum over the entries of w^2 ((x - c)^2 - c^2).
  double distance(std::size_t i, const double* center, double norm, const double* square) const {
    double sum = 0;
    for (std::int64_t e = start[i]; e < start[i + 1]; ++e)
      sum += square[column[e]] * value[e] * (value[e] - 2 * center[column[e]]);
    return std::max(0.0, norm + sum);
  }

  std::size_t padded() const { return n; }

  const std::size_t n, d;
  const std::int64_t* start;
  const std::int32_t* column;
  const double* value;
  std::vector<float> small;  // the values, scaled
  double scale;
};

// score[c] += sum over the entries of value * slope[column][c].
inline void add_entries(const float* value, const std::int32_t* column, std::size_t count, const float* slope,
                        std::size_t k, float* score) {
  on_widest([=](auto) CONSILIENCE_LAMBDA {
    for (std::size_t e = 0; e < count; ++e) {
      const float x = value[e];
      const float* const a = slope + std::size_t(column[e]) * k;
      for (std::size_t c = 0; c < k; ++c) score[c] += x * a[c];
    }
  });
}

// The floats of one run. Scores are b_c - x . a_c as for dense data; a row's rounding error is bounded by its length.
class SparseScores {
 public:
  using Table = SparseTable;
  explicit SparseScores(const SparseTable& table) : table_(table), power_(table.n) {}

  void begin(std::size_t k, const double* square) {
    k_ = k;
    square_ = square;
    slope_.assign(k * table_.d, 0.0f);
    offset_.assign(k, 0.0f);
    score_.assign(k, 0.0f);
    bounds_.begin(k, table_.n);
    for (std::size_t i = 0; i < table_.n; ++i) {
      double sum = 0;
      for (std::int64_t e = table_.start[i]; e < table_.start[i + 1]; ++e)
        sum += square[table_.column[e]] * double(table_.small[std::size_t(e)]) * double(table_.small[std::size_t(e)]);
      power_[i] = float(sum);
    }
  }

  void place(std::size_t c, const double* center, double moved) {
    bounds_.move(c, moved * table_.scale);
    double sum = 0;
    for (std::size_t j = 0; j < table_.d; ++j) {
      const double at = center ? center[j] * table_.scale : 0.0;
      sum += square_[j] * at * at;
      slope_[j * k_ + c] = float(-2 * square_[j] * at);
    }
    offset_[c] = center ? float(sum) : kFar;
  }

  template <class Visit>
  void visit_changes(const std::int32_t* labels, Visit&& visit) {
    bounds_.advance();
    for (std::size_t i = 0; i < table_.n; ++i) {
      if (bounds_.limit()[i] > bounds_.drift_up()[std::max(labels[i], 0)]) continue;
      const std::int32_t found = nearest(i);
      if (found != labels[i]) visit(i, found);
    }
  }

 private:
  // The nearest center of point i, -1 if in doubt; sets its next limit.
  std::int32_t nearest(std::size_t i) {
    std::copy(offset_.begin(), offset_.end(), score_.begin());
    const std::size_t first = std::size_t(table_.start[i]), length = std::size_t(table_.start[i + 1]) - first;
    add_entries(table_.small.data() + first, table_.column + first, length, slope_.data(), k_, score_.data());
    float low = score_[0], high = kFar;
    std::int32_t best = 0;
    for (std::size_t c = 1; c < k_; ++c) {
      high = std::min(high, std::max(low, score_[c]));
      if (score_[c] < low) low = score_[c], best = std::int32_t(c);
    }
    const Rounding rounding(length, length);
    const float error = rounding.error(high, power_[i]), more = error + rounding.power * power_[i];
    const float near = low + power_[i] + more, far = high + power_[i] - more;  // squared distances
    const float gap = far > near ? 0.9999f * (std::sqrt(far) - std::sqrt(near)) : -1.0f;
    const bool doubt = high - low <= 2 * error;
    bounds_.limit()[i] = doubt ? -1.0f : bounds_.drift_down()[best] + gap;
    return doubt ? -1 : best;
  }

  const SparseTable& table_;
  std::size_t k_ = 0;
  const double* square_ = nullptr;
  std::vector<float> slope_, offset_, power_, score_;  // slope_ is [column][center]
  HamerlyBounds bounds_;
};

}  // namespace consilience::kmeans
