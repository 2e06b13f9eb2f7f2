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

namespace consilience {

// Sum of square_j (x_j - y_j)^2; eight running sums, so every build adds in the same order.
CONSILIENCE_INLINE double squared_distance_with(const double* x, const double* y, const double* square, std::size_t d) {
  double sum[8] = {};
  std::size_t j = 0;
  for (; j + 8 <= d; j += 8)
    for (std::size_t t = 0; t < 8; ++t) {
      const double gap = x[j + t] - y[j + t];
      sum[t] += square[j + t] * gap * gap;
    }
  for (std::size_t t = 0; j + t < d; ++t) {
    const double gap = x[j + t] - y[j + t];
    sum[t] += square[j + t] * gap * gap;
  }
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}
CONSILIENCE_AVX2 inline double squared_distance_avx2(const double* x, const double* y, const double* square,
                                                     std::size_t d) {
  return squared_distance_with(x, y, square, d);
}
inline double squared_distance(const double* x, const double* y, const double* square, std::size_t d) {
  return has_avx2() ? squared_distance_avx2(x, y, square, d) : squared_distance_with(x, y, square, d);
}

// sum += sign * x; elementwise, so every build gives the same.
CONSILIENCE_INLINE void add_signed_with(const double* x, double sign, std::size_t d, double* sum) {
  for (std::size_t j = 0; j < d; ++j) sum[j] += sign * x[j];
}
CONSILIENCE_AVX2 inline void add_signed_avx2(const double* x, double sign, std::size_t d, double* sum) {
  add_signed_with(x, sign, d, sum);
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
    has_avx2() ? add_signed_avx2(rows + i * d, sign, d, sum) : add_signed_with(rows + i * d, sign, d, sum);
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
      : table_(table), power_(table.padded()), due_(table.padded() / kBlock), few_(kBlock * table.d) {}

  void begin(std::size_t k, const double* square) {
    k_ = k;
    square_ = square;
    slope_.assign(k * table_.d, 0.0f);
    offset_.assign(k, 0.0f);
    appointments_.begin(k, table_.padded());
    weigh_points();
  }

  // Places center c, `moved` from where it was; nowhere, where no point can find it, without one.
  void place(std::size_t c, const double* center, double moved) {
    appointments_.move(c, moved * table_.scale);
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
  // Blocks in which many points are late are scored as they stand; of others, the late points are copied together.
  template <class Visit>
  void visit_changes(const std::int32_t* labels, Visit&& visit) {
    if (appointments_.advance()) std::fill(due_.begin(), due_.end(), -1.0f);
    const std::size_t summed = std::min(table_.d, kChunk) + table_.d / kChunk;
    const DenseCenters centers{k_,
                               table_.d,
                               slope_.data(),
                               offset_.data(),
                               appointments_.early(),
                               Rounding(summed, table_.d)};
    std::size_t late[kBlock + 1];
    for (std::size_t b = 0; b < due_.size(); ++b) {
      const std::size_t count = appointments_.all_before(due_[b]) ? 0 : list_late(b, labels, late);
      if (!count) continue;
      if (count * (k_ + copying()) >= k_ * kBlock) {
        score_whole(b, centers, labels, visit);
        continue;
      }
      due_[b] = -1;
      for (std::size_t e = 0; e < count; ++e) {
        copy_aside(late[e]);
        if (aside_ == kBlock) score_few(centers, labels, visit);
      }
    }
    if (aside_) score_few(centers, labels, visit);
  }

 private:
  // What copying a point costs, in scores of it; measured. Wide ones come from beyond the first cache.
  std::size_t copying() const { return table_.d <= 128 ? 16 : 64; }

  // The points of a block that are late, and their number.
  std::size_t list_late(std::size_t b, const std::int32_t* labels, std::size_t* late) {
    const std::size_t first = b * kBlock, end = std::min(first + kBlock, table_.n);
    float left[kBlock];
    const float soonest = time_left(appointments_.due() + first, appointments_.late(), labels + first, left);
    if (soonest > 0) due_[b] = appointments_.all_after(soonest);
    std::size_t count = 0;
    for (std::size_t i = first; i < end; ++i) {  // without a branch, since which are late is hard to foresee
      late[count] = i;
      count += !(left[i - first] > 0);
    }
    return count;
  }

  template <class Visit>
  void score_whole(std::size_t b, const DenseCenters& centers, const std::int32_t* labels, Visit& visit) {
    const std::size_t first = b * kBlock, end = std::min(first + kBlock, table_.n);
    score_block(centers, table_.blocks.data() + first * table_.d, power_.data() + first, found_);
    std::copy(found_.due, found_.due + kBlock, appointments_.due() + first);
    due_[b] = appointments_.all_after(found_.gap);
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
      appointments_.due()[i] = found_.due[t];
      if (found_.nearest[t] != labels[i]) visit(i, found_.nearest[t]);
    }
    aside_ = 0;
  }

  // power_[i] = |w x_i|^2
  void weigh_points() {
    std::fill(power_.begin(), power_.end(), 0.0f);
    for (std::size_t b = 0; b < due_.size(); ++b)
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
  Appointments appointments_;
  std::vector<float> due_;  // of whole blocks, in the time of all
  DenseBlock found_;
  std::vector<float> few_;  // points copied together, and what belongs to them
  float few_power_[kBlock] = {};
  std::size_t few_points_[kBlock], aside_ = 0;
};

}  // namespace consilience
