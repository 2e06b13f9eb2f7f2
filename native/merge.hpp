// Merging clusters so that the least information is lost.
//
// With T[y][c] the clusters' counts, merging a and b changes the information by (1/N) [gain(a, b)],
//   gain(a, b) = sum_y [ phi(Ta + Tb) - phi(Ta) - phi(Tb) ] - [ phi(ta + tb) - phi(ta) - phi(tb) ]  <=  0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "candidates.hpp"
#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

// The tables of clusters that merge; the pair lives on under the number of its first.
class Merger {
 public:
  // `table` is columns x clusters.
  Merger(const double* table, std::size_t columns, std::size_t clusters)
      : columns_(columns), k_(clusters), table_(table, table + columns * clusters), phi_(table_.size()),
        total_(clusters, 0.0), own_(clusters, 0.0), gain_(clusters), alive_(clusters, 1), label_(clusters) {
    for (std::size_t t = 0; t < table_.size(); ++t) phi_[t] = fast_xlogx(table_[t]);
    for (std::size_t y = 0; y < columns; ++y)
      for (std::size_t c = 0; c < k_; ++c) total_[c] += table_[y * k_ + c], own_[c] += phi_[y * k_ + c];
    for (std::size_t c = 0; c < k_; ++c) label_[c] = std::int32_t(c);
  }

  // Clusters in the given order take the nearest that is still free, until `merges` are done; none merges twice. Scores
  // in single precision tell which few deserve an exact look.
  void nearest(const std::int64_t* order, std::size_t merges) {
    NearScores near(columns_ + 1, k_);
    double largest = 0;
    for (std::size_t c = 0; c < k_; ++c) largest = std::max(largest, total_[c]);
    const double unit = largest > 0 ? 1 / largest : 1.0;
    for (std::size_t t = 0; t < table_.size(); ++t) near.at(t / k_, t % k_) = float(table_[t] * unit);
    for (std::size_t c = 0; c < k_; ++c) near.at(columns_, c) = float(total_[c] * unit);
    std::vector<char> free(k_, 1);
    for (std::size_t t = 0; t < k_ && merges; ++t) {
      const std::size_t a = std::size_t(order[t]);
      if (!free[a]) continue;
      free[a] = 0;
      const std::size_t b = nearest_to(a, free, near, unit);
      if (b == k_) return;
      free[b] = 0;
      label_[b] = std::int32_t(a);
      --merges;
    }
  }

  // The cheapest pair first; merged clusters may merge again.
  void greedy(std::size_t merges) {
    std::vector<double> cost(k_ * k_);
    std::vector<std::size_t> partner(k_);  // of every cluster the best one with a larger number
    for (std::size_t a = 0; a < k_; ++a) write_gains(a, a + 1, cost);
    for (std::size_t a = 0; a < k_; ++a) partner[a] = best_above(a, cost);
    while (merges--) {
      std::size_t a = k_;
      for (std::size_t c = 0; c < k_; ++c)
        if (alive_[c] && partner[c] < k_ && (a == k_ || cost[c * k_ + partner[c]] > cost[a * k_ + partner[a]])) a = c;
      if (a == k_) return;
      const std::size_t b = partner[a];
      merge(a, b);
      write_gains(a, 0, cost);
      for (std::size_t c = 0; c < k_; ++c) {
        if (!alive_[c]) continue;
        if (c == a || partner[c] == a || partner[c] == b)
          partner[c] = best_above(c, cost);
        else if (c < a && cost[c * k_ + a] > cost[c * k_ + partner[c]])
          partner[c] = a;
      }
    }
  }

  // The cluster of every old one, numbered from 0 without gaps; returns how many there are.
  std::size_t labels(std::int32_t* out) const {
    std::vector<std::int32_t> number(k_, -1);
    std::size_t count = 0;
    for (std::size_t c = 0; c < k_; ++c) {
      std::size_t root = c;
      while (std::size_t(label_[root]) != root) root = std::size_t(label_[root]);
      if (number[root] < 0) number[root] = std::int32_t(count++);
      out[c] = number[root];
    }
    return count;
  }

 private:
  std::size_t columns_, k_;
  std::vector<double> table_, phi_, total_, own_, gain_;
  std::vector<char> alive_;
  std::vector<std::int32_t> label_;

  std::size_t nearest_to(std::size_t a, const std::vector<char>& free, NearScores& near, double unit) {
    near.clear();
    for (std::size_t y = 0; y < columns_; ++y) {
      const float x = float(table_[y * k_ + a] * unit);
      if (x > 0) near.add(y, x, x);
    }
    const float mass = float(total_[a] * unit);
    if (mass > 0) near.add(columns_, mass, -mass);
    near.score(a);
    const float* const score = near.scores();
    float top = -std::numeric_limits<float>::infinity();
    for (std::size_t b = 0; b < k_; ++b)
      if (free[b] && score[b] > top) top = score[b];
    std::size_t best = k_;
    double most = 0;
    for (std::size_t b = 0; b < k_; ++b) {
      if (!free[b] || score[b] < top - NearScores::kError * mass) continue;
      const double now = gain(a, b);
      if (best == k_ || now > most) best = b, most = now;
    }
    return best;
  }

  double gain(std::size_t a, std::size_t b) const {
    double sum = fast_xlogx(total_[a]) + fast_xlogx(total_[b]) - fast_xlogx(total_[a] + total_[b]) - own_[a];
    for (std::size_t y = 0; y < columns_; ++y)
      if (table_[y * k_ + a] > 0) sum += fast_xlogx(table_[y * k_ + b] + table_[y * k_ + a]) - phi_[y * k_ + b];
    return sum;
  }

  // gain_[b] = gain(a, b) for the clusters b from `begin` on.
  CONSILIENCE_INLINE void gains(std::size_t a, std::size_t begin) {
    double* const gain = gain_.data();
    const std::size_t k = k_;
    const double ta = total_[a], phi_ta = fast_xlogx(ta), own = own_[a];
    for (std::size_t b = begin; b < k_; ++b)
      gain[b] = phi_ta - own - fast_xlogx(total_[b] + ta) + fast_xlogx(total_[b]);
    for (std::size_t y = 0; y < columns_; ++y) {
      const double x = table_[y * k_ + a];
      if (x == 0) continue;
      const double *const cell = table_.data() + y * k_, *const phi = phi_.data() + y * k_;
      for (std::size_t b = begin; b < k; ++b) gain[b] += fast_xlogx(cell[b] + x) - phi[b];
    }
  }

  void write_gains(std::size_t a, std::size_t begin, std::vector<double>& cost) {
    on_widest([=](auto) CONSILIENCE_LAMBDA { gains(a, begin); });
    for (std::size_t b = begin; b < k_; ++b) cost[a * k_ + b] = cost[b * k_ + a] = gain_[b];
  }

  std::size_t best_above(std::size_t a, const std::vector<double>& cost) const {
    std::size_t best = k_;
    for (std::size_t b = a + 1; b < k_; ++b)
      if (alive_[b] && (best == k_ || cost[a * k_ + b] > cost[a * k_ + best])) best = b;
    return best;
  }

  void merge(std::size_t a, std::size_t b) {
    own_[a] = 0;
    for (std::size_t y = 0; y < columns_; ++y) {
      double* const cell = table_.data() + y * k_;
      cell[a] += cell[b];
      cell[b] = 0;
      phi_[y * k_ + a] = fast_xlogx(cell[a]);
      phi_[y * k_ + b] = 0;
      own_[a] += phi_[y * k_ + a];
    }
    total_[a] += total_[b];
    total_[b] = own_[b] = 0;
    alive_[b] = 0;
    label_[b] = std::int32_t(a);
  }
};

}  // namespace consilience
