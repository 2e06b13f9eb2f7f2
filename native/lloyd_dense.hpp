// Dense data for k-means, held twice: the rows as they are (double), which decide, and a table of floats for speed.
//
// The nearest center of x minimizes  b_c - x . a_c,  with b_c = |w c|^2 and a_c = 2 w^2 c: weights touch the centers,
// never the data, so all runs share one table. It holds floats, centered and scaled, in blocks of points, feature by
// feature, so that lanes are points. Where the best two scores are so near that rounding could have swapped them,
// the rows are asked: floats filter, doubles decide, and the labels are those of k-means in doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lloyd_bounds.hpp"
#include "lloyd_score.hpp"
#include "vectors.hpp"

namespace consilience::kmeans {

// Sum of square_j (x_j - y_j)^2; eight running sums, so every build adds in the same order.
inline double squared_distance(const double* x, const double* y, const double* square, std::size_t d) {
  const auto body = [](auto, const double* x, const double* y, const double* square, std::size_t d) CONSILIENCE_LAMBDA {
    double sum[8] = {};
    std::size_t j = 0;
    const auto add = [&](std::size_t t) CONSILIENCE_LAMBDA {
      const double gap = x[j + t] - y[j + t];
      sum[t] += square[j + t] * gap * gap;
    };
    for (; j + 8 <= d; j += 8)
      for (std::size_t t = 0; t < 8; ++t) add(t);
    for (std::size_t t = 0; j + t < d; ++t) add(t);
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  };
  return on_widest(body, x, y, square, d);
}

class DenseTable {
 public:
  static constexpr double kNothing = 1e-24;  // a squared distance below this share of the squares is rounding

  DenseTable(const double* rows, std::size_t n, std::size_t d)
      : n(n), d(d), rows(rows), mean(d, 0.0), blocks(padded() * d, 0.0f) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j) mean[j] += rows[i * d + j];
    for (std::size_t j = 0; j < d; ++j) mean[j] /= double(n);
    double top = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j) top = std::max(top, std::fabs(rows[i * d + j] - mean[j]));
    // A power of two, so that no float overflows and none is rounded by it.
    scale = top > 0 ? std::ldexp(1.0, std::min(-std::ilogb(top), 1000)) : 1.0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j)
        blocks[(i / kBlock * d + j) * kBlock + i % kBlock] = float((rows[i * d + j] - mean[j]) * scale);
  }

  // sum += sign * row i
  void add(std::size_t i, double sign, double* sum) const {
    const auto body = [](auto, const double* x, double sign, std::size_t d, double* sum) CONSILIENCE_LAMBDA {
      for (std::size_t j = 0; j < d; ++j) sum[j] += sign * x[j];
    };
    on_widest(body, rows + i * d, sign, d, sum);
  }
  double distance(std::size_t i, const double* center, double, const double* square) const {
    return squared_distance(rows + i * d, center, square, d);
  }
  std::size_t padded() const { return (n + kBlock - 1) / kBlock * kBlock; }

  const std::size_t n, d;
  const double* rows;
  std::vector<double> mean;
  double scale;
  std::vector<float> blocks;  // [block][feature][point]
};

// The floats of one run: centers as they are scored, and when each point must be scored again.
class DenseScores {
 public:
  using Table = DenseTable;
  explicit DenseScores(const DenseTable& table)
      : table_(table), power_(table.padded()), limit_(table.padded() / kBlock), few_(kBlock * table.d) {}

  void begin(std::size_t k, const double* square) {
    k_ = k;
    square_ = square;
    slope_.assign(k * table_.d, 0.0f);
    offset_.assign(k, 0.0f);
    bounds_.begin(k, table_.padded());
    weigh_points();
  }

  // Places center c, `moved` from where it was; nowhere, where no point can find it, without one.
  void place(std::size_t c, const double* center, double moved) {
    bounds_.move(c, moved * table_.scale);
    const std::size_t first = c / kGroup * kGroup, stride = std::min(kGroup, k_ - first);
    float* slope = slope_.data() + first * table_.d + (c - first);
    double sum = 0;
    for (std::size_t j = 0; j < table_.d; ++j) {
      const double at = center ? (center[j] - table_.mean[j]) * table_.scale : 0.0;
      sum += square_[j] * at * at;
      slope[j * stride] = float(2 * square_[j] * at);
    }
    offset_[c] = center ? float(sum) : kFar;
  }

  // Calls visit(i, nearest) for the points whose nearest center may not be their label; nearest is -1 if in doubt.
  // Blocks in which many points have exceeded their limits are scored as they stand; of others, those points are copied together.
  template <class Visit>
  void visit_changes(const std::int32_t* labels, Visit&& visit) {
    if (bounds_.advance()) std::fill(limit_.begin(), limit_.end(), -1.0f);
    const std::size_t summed = std::min(table_.d, kChunk) + table_.d / kChunk;
    const DenseCenters centers{k_,
                               table_.d,
                               slope_.data(),
                               offset_.data(),
                               bounds_.drift_down(),
                               Rounding(summed, table_.d)};
    std::size_t exceeded[kBlock + 1];
    for (std::size_t b = 0; b < limit_.size(); ++b) {
      const std::size_t count = bounds_.within(limit_[b]) ? 0 : list_exceeded(b, labels, exceeded);
      if (!count) continue;
      if (count * (k_ + copying()) >= k_ * kBlock) {
        score_whole(b, centers, labels, visit);
        continue;
      }
      limit_[b] = -1;
      for (std::size_t e = 0; e < count; ++e) {
        copy_aside(exceeded[e]);
        if (aside_ == kBlock) score_few(centers, labels, visit);
      }
    }
    if (aside_) score_few(centers, labels, visit);
  }

 private:
  // What copying a point costs, in scores of it; measured. Wide ones come from beyond the first cache.
  std::size_t copying() const { return table_.d <= 128 ? 16 : 64; }

  // The points of a block that have exceeded their limits, and their number.
  std::size_t list_exceeded(std::size_t b, const std::int32_t* labels, std::size_t* exceeded) {
    const std::size_t first = b * kBlock, end = std::min(first + kBlock, table_.n);
    float left[kBlock];
    const float soonest = slack(bounds_.limit() + first, bounds_.drift_up(), labels + first, left);
    if (soonest > 0) limit_[b] = bounds_.limit_after(soonest);
    std::size_t count = 0;
    for (std::size_t i = first; i < end; ++i) {  // without a branch, since which they are is hard to foresee
      exceeded[count] = i;
      count += !(left[i - first] > 0);
    }
    return count;
  }

  template <class Visit>
  void score_whole(std::size_t b, const DenseCenters& centers, const std::int32_t* labels, Visit& visit) {
    const std::size_t first = b * kBlock, end = std::min(first + kBlock, table_.n);
    score_block(centers, table_.blocks.data() + first * table_.d, power_.data() + first, found_);
    std::copy(found_.limit, found_.limit + kBlock, bounds_.limit() + first);
    limit_[b] = bounds_.limit_after(found_.gap);
    std::int32_t differ = 0;
    for (std::size_t t = 0; t < kBlock; ++t) differ |= found_.nearest[t] ^ labels[first + t];
    for (std::size_t i = first; differ && i < end; ++i)
      if (found_.nearest[i - first] != labels[i]) visit(i, found_.nearest[i - first]);
  }

  void copy_aside(std::size_t i) {
    const float* x = table_.blocks.data() + i / kBlock * kBlock * table_.d + i % kBlock;
    for (std::size_t j = 0; j < table_.d; ++j) few_[j * kBlock + aside_] = x[j * kBlock];
    few_power_[aside_] = power_[i];
    few_points_[aside_++] = i;
  }

  template <class Visit>
  void score_few(const DenseCenters& centers, const std::int32_t* labels, Visit& visit) {
    score_block(centers, few_.data(), few_power_, found_);
    for (std::size_t t = 0; t < aside_; ++t) {
      const std::size_t i = few_points_[t];
      bounds_.limit()[i] = found_.limit[t];
      if (found_.nearest[t] != labels[i]) visit(i, found_.nearest[t]);
    }
    aside_ = 0;
  }

  // power_[i] = |w x_i|^2
  void weigh_points() {
    std::fill(power_.begin(), power_.end(), 0.0f);
    for (std::size_t b = 0; b < limit_.size(); ++b)
      for (std::size_t j = 0; j < table_.d; ++j) {
        const float square = float(square_[j]);
        const float* x = table_.blocks.data() + (b * table_.d + j) * kBlock;
        for (std::size_t t = 0; t < kBlock; ++t) power_[b * kBlock + t] += square * x[t] * x[t];
      }
  }

  const DenseTable& table_;
  std::size_t k_ = 0;
  const double* square_ = nullptr;
  std::vector<float> slope_, offset_;  // of the centers
  std::vector<float> power_;           // of the points
  HamerlyBounds bounds_;
  std::vector<float> limit_;  // of whole blocks, in the time of all
  DenseBlock found_;
  std::vector<float> few_;  // points copied together, and what belongs to them
  float few_power_[kBlock] = {};
  std::size_t few_points_[kBlock], aside_ = 0;
};

}  // namespace consilience::kmeans
