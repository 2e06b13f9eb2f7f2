// Two clusters that share some objects between them: what a split-merge move proposes (S. Jain and R. M. Neal, Journal of
// Computational and Graphical Statistics 2004). Two objects are the seeds of the two; the others are first dealt out one by one, in
// random order, by the clusters as they are so far (D. B. Dahl 2005), then redrawn one by one given all others. The last redrawing
// is the proposal, and its probability is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "rises.hpp"

namespace consilience {

struct MixtureRows {
  std::size_t n, clusterings;
  const std::int32_t* label;   // n x clusterings, -1 missing
  const std::int64_t* offset;  // clusterings + 1: the labels of all clusterings numbered through

  std::size_t columns() const { return std::size_t(offset[clusterings]); }
  std::size_t labels_of(std::size_t m) const { return std::size_t(offset[m + 1] - offset[m]); }
};

class TwoClusters {
 public:
  // Labels start at beta, and all J of a clustering at J beta; its likelihood counts to `power`.
  TwoClusters(const MixtureRows& rows, double beta, double power) : rows_(rows), power_(power), cell_start_(rises_.add(beta)) {
    for (std::size_t m = 0; m < rows.clusterings; ++m) total_start_.push_back(rises_.add(double(rows.labels_of(m)) * beta));
  }

  // Seeds `first` and `second`, and the other objects; redrawn once before the proposal.
  void launch(std::size_t first, std::size_t second, const std::vector<std::size_t>& others, Stream& random) {
    clear();
    put(first, 0, 1);
    put(second, 1, 1);
    order_.resize(others.size());
    for (std::size_t h = 0; h < others.size(); ++h) order_[h] = h;
    random.shuffle(order_.data(), order_.size());
    side_.assign(others.size(), 0);
    for (std::size_t h : order_) {
      side_[h] = draw(log_odds(others[h], kNeither), random);
      put(others[h], side_[h], 1);
    }
    redraw(others, random, nullptr);
  }

  // Every object once more, given the others; the log-probability of what is drawn. Where `sides` are given, they are taken.
  double redraw(const std::vector<std::size_t>& others, Stream& random, const std::uint8_t* sides) {
    double log_probability = 0;
    for (std::size_t h = 0; h < others.size(); ++h) {
      const double odds = log_odds(others[h], side_[h]);
      const std::uint8_t now = sides ? sides[h] : draw(odds, random);
      log_probability -= softplus(now ? -odds : odds);
      if (now == side_[h]) continue;
      put(others[h], side_[h], -1);
      put(others[h], now, 1);
      side_[h] = now;
    }
    return log_probability;
  }

  const std::vector<std::uint8_t>& sides() const { return side_; }
  std::int64_t size(std::size_t side) const { return size_[side]; }

  // log p(labels of both clusters) - log p(labels of them as one), tempered, of counts N[label] and N[clustering] of each.
  template <class First, class Second, class Firsts, class Seconds>
  double log_apart(First cell0, Second cell1, Firsts total0, Seconds total1) const {
    double sum = 0;
    for (std::size_t t = 0; t < rows_.columns(); ++t) sum += apart(cell_start_, cell0(t), cell1(t));
    for (std::size_t m = 0; m < rows_.clusterings; ++m) sum -= apart(total_start_[m], total0(m), total1(m));
    return power_ * sum;
  }
  double log_apart() const {
    return log_apart([&](std::size_t t) { return cell_[2 * t]; }, [&](std::size_t t) { return cell_[2 * t + 1]; },
                     [&](std::size_t m) { return total_[2 * m]; }, [&](std::size_t m) { return total_[2 * m + 1]; });
  }

 private:
  static constexpr std::uint8_t kNeither = 2;

  const MixtureRows& rows_;
  const double power_;
  Rises rises_;
  std::size_t cell_start_;
  std::vector<std::size_t> total_start_;
  std::vector<std::int64_t> cell_, total_;  // N[label][side], N[clustering][side]
  std::int64_t size_[2] = {0, 0};
  std::vector<std::size_t> order_;
  std::vector<std::uint8_t> side_;

  double apart(std::size_t start, std::int64_t a, std::int64_t b) const {
    return a && b ? rises_.log_rise(start, a) + rises_.log_rise(start, b) - rises_.log_rise(start, a + b) : 0.0;
  }

  void clear() {
    cell_.assign(2 * rows_.columns(), 0);
    total_.assign(2 * rows_.clusterings, 0);
    size_[0] = size_[1] = 0;
  }

  void put(std::size_t i, std::size_t side, int sign) {
    size_[side] += sign;
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      const std::int32_t y = rows_.label[i * rows_.clusterings + m];
      if (y < 0) continue;
      cell_[2 * std::size_t(rows_.offset[m] + y) + side] += sign;
      total_[2 * m + side] += sign;
    }
  }

  static std::uint8_t draw(double odds, Stream& random) { return random.uniform() * (1 + std::exp(odds)) < 1 ? 0 : 1; }

  static double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

  // log of p(second) / p(first) for an object, counted without it: the clusters' sizes times the likelihoods of its labels.
  double log_odds(std::size_t i, std::uint8_t side) {
    const std::int64_t in0 = side == 0, in1 = side == 1;
    double odds = 0;
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      const std::int32_t y = rows_.label[i * rows_.clusterings + m];
      if (y < 0) continue;
      const std::int64_t* const cell = cell_.data() + 2 * std::size_t(rows_.offset[m] + y);
      const std::int64_t* const total = total_.data() + 2 * m;
      odds += rises_.log(cell_start_, cell[1] - in1) - rises_.log(cell_start_, cell[0] - in0);
      odds += rises_.log(total_start_[m], total[0] - in0) - rises_.log(total_start_[m], total[1] - in1);
    }
    return std::log(double(size_[1] - in1) / double(size_[0] - in0)) + power_ * odds;
  }
};

}  // namespace consilience
