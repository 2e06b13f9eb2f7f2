// Collapsed Gibbs sampling of a Dirichlet-process mixture of label rows: one sweep gives every object a new cluster,
// drawn from its conditional distribution given the clusters of all others,
//   p(z_i = k | rest) ~ p(k | sizes without i)  prod_m (beta + N_kmy) / (J_m beta + N_km),   counts without i,
// over the clusterings m that label the object; N_km counts the labeled members only (Wang, Domeniconi and Laskey 2010,
// Eq. 5, with one factor per clustering). The likelihood may count to a power tau, so that p(z, y) ~ p(z) p(y | z)^tau:
// clusterings that repeat each other are then not taken for so many witnesses. Prior of the clusters, truncated at K:
//   sticks     (1 + n_k) / (1 + alpha + n_>=k)  prod_{h<k} (alpha + n_>h) / (1 + alpha + n_>=h),  all the rest for the last
//   symmetric  (alpha / K + n_k) / (alpha + n)
// Only clusters up to the last occupied one are looked at; the empty ones behind it are as likely as each other given
// their prior, and are drawn as one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "random.hpp"
#include "rises.hpp"
#include "split_merge.hpp"
#include "vectors.hpp"

namespace consilience {

struct MixturePrior {
  std::size_t clusters;  // K, where the prior is cut off
  bool sticks;           // truncated stick-breaking; otherwise a symmetric Dirichlet
  double alpha, beta;
  double power = 1;  // of the likelihood of every clustering
};

class Gibbs {
 public:
  Gibbs(const MixtureRows& rows, const MixturePrior& prior, std::int32_t* cluster)
      : rows_(rows), prior_(prior), k_(prior.clusters), cluster_(cluster) {
    build();
  }

  // Every object once, then so many split-merge moves.
  void sweep(std::uint64_t seed, std::uint64_t unit, std::size_t moves = 0) {
    Stream random(seed, unit);
    for (std::size_t i = 0; i < rows_.n; ++i) {
      weigh(i);
      const std::size_t old = std::size_t(cluster_[i]), now = draw(random);
      if (now != old) move(i, old, now);
    }
    TwoClusters two(rows_, prior_.beta, prior_.power);
    for (std::size_t move = 0; move < moves; ++move) split_or_merge(two, random);
    if (prior_.sticks) swap_neighbors(random);
  }

  // Probabilities of all K clusters for an object, given the clusters of the others.
  void conditional(std::size_t i, double* probability) {
    weigh(i);
    double total = behind_;
    for (std::size_t k = 0; k < top_; ++k) total += weight_[k];
    for (std::size_t k = 0; k < top_; ++k) probability[k] = weight_[k] / total;
    double left = behind_ / total;
    for (std::size_t k = top_; k < k_; ++k) {
      const double share = share_behind(k);
      probability[k] = left * share;
      left *= 1 - share;
    }
  }

  // Labels x clusters, and the members of every cluster.
  void counts(std::int64_t* table, std::int64_t* size) const {
    std::copy(table_.begin(), table_.end(), table);
    std::copy(size_.begin(), size_.end(), size);
  }

 private:
  static constexpr std::size_t kBlock = 8;  // factors multiplied before their logarithm is taken

  const MixtureRows& rows_;
  const MixturePrior prior_;
  const std::size_t k_;
  std::int32_t* cluster_;
  std::size_t top_ = 0;                   // one beyond the last occupied cluster
  std::vector<std::int64_t> table_;       // N[label][k]
  std::vector<std::int64_t> total_;       // N[clustering][k]
  std::vector<std::int64_t> size_;        // members
  std::vector<double> logs_, total_logs_;  // log(beta + N), log(J beta + N)
  std::vector<double> log_labels_;        // log J of every clustering
  std::vector<double> weight_;            // of every cluster for the object in hand
  double behind_ = 0;                     // of all clusters from top_ on
  std::vector<std::size_t> others_;       // objects that a split-merge move deals out
  std::vector<std::uint8_t> sides_;       // and where they are

  void build() {
    const std::size_t columns = rows_.columns();
    table_.assign(columns * k_, 0);
    total_.assign(rows_.clusterings * k_, 0);
    size_.assign(k_, 0);
    weight_.assign(k_, 0.0);
    for (std::size_t i = 0; i < rows_.n; ++i) put(i, std::size_t(cluster_[i]), 1);
    for (top_ = k_; top_ > 0 && !size_[top_ - 1];) --top_;
    logs_.resize(table_.size());
    total_logs_.resize(total_.size());
    log_labels_.resize(rows_.clusterings);
    const double none = std::log(prior_.beta);
    for (std::size_t t = 0; t < table_.size(); ++t) logs_[t] = table_[t] ? std::log(prior_.beta + double(table_[t])) : none;
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      log_labels_[m] = std::log(double(rows_.labels_of(m)));
      for (std::size_t k = 0; k < k_; ++k) total_logs_[m * k_ + k] = std::log(smoothed_total(m, k));
    }
  }

  double smoothed(std::size_t m, std::int64_t total) const {
    return double(rows_.labels_of(m)) * prior_.beta + double(total);
  }

  double smoothed_total(std::size_t m, std::size_t k) const {
    return smoothed(m, total_[m * k_ + k]);
  }

  void put(std::size_t i, std::size_t k, int sign) {
    size_[k] += sign;
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      const std::int32_t y = rows_.label[i * rows_.clusterings + m];
      if (y < 0) continue;
      table_[std::size_t(rows_.offset[m] + y) * k_ + k] += sign;
      total_[m * k_ + k] += sign;
    }
  }

  void refresh_logs(std::size_t i, std::size_t k) {
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      const std::int32_t y = rows_.label[i * rows_.clusterings + m];
      if (y < 0) continue;
      const std::size_t cell = std::size_t(rows_.offset[m] + y) * k_ + k;
      logs_[cell] = std::log(prior_.beta + double(table_[cell]));
      total_logs_[m * k_ + k] = std::log(smoothed_total(m, k));
    }
  }

  void move(std::size_t i, std::size_t old, std::size_t now) {
    put(i, old, -1);
    put(i, now, +1);
    refresh_logs(i, old);
    refresh_logs(i, now);
    cluster_[i] = std::int32_t(now);
    top_ = std::max(top_, now + 1);
    while (!size_[top_ - 1]) --top_;
  }

  // weight_[k] and behind_, up to a common factor: likelihoods from the logs kept of the clusters, the object's own
  // cluster counted without it.
  void weigh(std::size_t i) {
    const double empty = on_widest([&](auto) CONSILIENCE_LAMBDA { return log_likelihoods(i); });
    const std::size_t own = std::size_t(cluster_[i]);
    weight_[own] = without(i, own);
    double best = empty;
    for (std::size_t k = 0; k < top_; ++k) best = std::max(best, weight_[k]);
    for (std::size_t k = 0; k < top_; ++k) weight_[k] = std::exp(prior_.power * (weight_[k] - best));
    behind_ = std::exp(prior_.power * (empty - best));
    if (prior_.sticks)
      times_sticks(own);
    else
      times_symmetric(own);
  }

  // Of the clusters before top_ into weight_; returns that of an empty one.
  CONSILIENCE_INLINE double log_likelihoods(std::size_t i) {
    double* const weight = weight_.data();
    const std::size_t top = top_;
    std::fill(weight, weight + top, 0.0);
    double empty = 0;
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      const std::int32_t y = rows_.label[i * rows_.clusterings + m];
      if (y < 0) continue;
      const double* const cell = logs_.data() + std::size_t(rows_.offset[m] + y) * k_;
      const double* const total = total_logs_.data() + m * k_;
      for (std::size_t k = 0; k < top; ++k) weight[k] += cell[k] - total[k];
      empty -= log_labels_[m];
    }
    return empty;
  }

  // The object is taken out of the whole counts: next to 1, a tiny beta is lost.
  double without(std::size_t i, std::size_t own) const {
    double sum = 0, product = 1;
    std::size_t factors = 0;
    for (std::size_t m = 0; m < rows_.clusterings; ++m) {
      const std::int32_t y = rows_.label[i * rows_.clusterings + m];
      if (y < 0) continue;
      const std::size_t cell = std::size_t(rows_.offset[m] + y) * k_ + own;
      product *= (prior_.beta + double(table_[cell] - 1)) / smoothed(m, total_[m * k_ + own] - 1);
      if (++factors % kBlock == 0) sum += std::log(product), product = 1;
    }
    return sum + std::log(product);
  }

  void times_sticks(std::size_t own) {
    double rest = 1;
    std::int64_t here_on = std::int64_t(rows_.n) - 1;  // members of this cluster and those behind it
    for (std::size_t k = 0; k < top_; ++k) {
      const std::int64_t size = size_[k] - (k == own);
      if (k + 1 == k_) {
        weight_[k] *= rest;
        rest = 0;
        break;
      }
      const double share = rest / (1 + prior_.alpha + double(here_on));
      weight_[k] *= share * double(1 + size);
      here_on -= size;
      rest = share * (prior_.alpha + double(here_on));
    }
    behind_ = top_ < k_ ? behind_ * rest : 0.0;
  }

  void times_symmetric(std::size_t own) {
    const double each = prior_.alpha / double(k_);
    for (std::size_t k = 0; k < top_; ++k) weight_[k] *= each + double(size_[k] - (k == own));
    behind_ *= each * double(k_ - top_);
  }

  // What cluster k >= top_ has of the prior of k and all behind it: a stick's first piece, or an equal part.
  double share_behind(std::size_t k) const {
    if (k + 1 == k_) return 1.0;
    return prior_.sticks ? 1 / (1 + prior_.alpha) : 1 / double(k_ - k);
  }

  // Empty clusters of the symmetric prior are interchangeable: the first of them stands for whichever it is.
  std::size_t draw(Stream& random) {
    double total = behind_;
    for (std::size_t k = 0; k < top_; ++k) total += weight_[k];
    double left = random.uniform() * total;
    for (std::size_t k = 0; k < top_; ++k) {
      if (left < weight_[k]) return k;
      left -= weight_[k];
    }
    if (!(behind_ > 0)) return heaviest();  // rounding ate the last bit
    std::size_t k = top_;
    if (prior_.sticks)
      while (random.uniform() >= share_behind(k)) ++k;
    return k;
  }

  std::size_t heaviest() const {
    return std::size_t(std::max_element(weight_.begin(), weight_.begin() + std::ptrdiff_t(top_)) - weight_.begin());
  }

  // One object is drawn, and by a toss another of its cluster, to split it, or of another, to merge both: the first takes its
  // part to an empty cluster, or brings its cluster to that of the second. Metropolis-Hastings with the chances of both ways.
  void split_or_merge(TwoClusters& two, Stream& random) {
    const std::size_t i = std::size_t(random.below(rows_.n));
    if (random.uniform() < 0.5)
      split(i, two, random);
    else
      merge(i, two, random);
  }

  void split(std::size_t i, TwoClusters& two, Stream& random) {
    const std::size_t here = std::size_t(cluster_[i]);
    const std::size_t empty = empty_until(top_);
    if (size_[here] < 2 || !empty) return;
    members(i, here, here);
    const std::size_t chosen = std::size_t(random.below(others_.size())), j = others_[chosen];
    others_.erase(others_.begin() + std::ptrdiff_t(chosen));
    std::size_t to = 0;
    for (std::size_t left = prior_.sticks ? std::size_t(random.below(empty)) + 1 : 1;; ++to)
      if (!size_[to] && !--left) break;
    two.launch(i, j, others_, random);
    const double drawn = two.redraw(others_, random, nullptr);
    double odds = two.log_apart() - log_prior() - drawn + std::log(double(empty));
    odds += log_pairs(size_[here], two.size(0));
    size_[here] = two.size(1), size_[to] = two.size(0);
    odds += log_prior();
    size_[here] += size_[to], size_[to] = 0;
    if (!(std::log(random.uniform()) < odds)) return;
    const std::vector<std::uint8_t>& sides = two.sides();
    move(i, here, to);
    for (std::size_t h = 0; h < others_.size(); ++h)
      if (!sides[h]) move(others_[h], here, to);
  }

  void merge(std::size_t i, TwoClusters& two, Stream& random) {
    const std::size_t from = std::size_t(cluster_[i]);
    if (size_[from] == std::int64_t(rows_.n)) return;
    std::size_t j;
    do j = std::size_t(random.below(rows_.n));
    while (std::size_t(cluster_[j]) == from);
    const std::size_t to = std::size_t(cluster_[j]);
    const std::int64_t moving = size_[from];
    const auto cell = [&](std::size_t k) { return [this, k](std::size_t t) { return table_[t * k_ + k]; }; };
    const auto total = [&](std::size_t k) { return [this, k](std::size_t m) { return total_[m * k_ + k]; }; };
    double odds = -two.log_apart(cell(from), cell(to), total(from), total(to)) - log_prior();
    size_[to] += moving, size_[from] = 0;
    odds += log_prior() - log_pairs(size_[to], moving);
    std::size_t top = top_;
    while (!size_[top - 1]) --top;
    const std::size_t empty = from <= top || !prior_.sticks ? empty_until(top) : 0;
    size_[to] -= moving, size_[from] = moving;
    if (!empty) return;  // a split would not have chosen this place
    odds -= std::log(double(empty)) + std::log(random.uniform());
    if (!(odds > 0)) return;  // whatever the chance of the way back
    members(i, from, to);
    others_.erase(std::find(others_.begin(), others_.end(), j));
    sides_.resize(others_.size());
    for (std::size_t h = 0; h < others_.size(); ++h) sides_[h] = std::size_t(cluster_[others_[h]]) == to;
    two.launch(i, j, others_, random);
    if (!(odds + two.redraw(others_, random, sides_.data()) > 0)) return;
    move(i, from, to);
    for (std::size_t h = 0; h < others_.size(); ++h)
      if (!sides_[h]) move(others_[h], from, to);
  }

  // The objects of two clusters but i, in order.
  void members(std::size_t i, std::size_t a, std::size_t b) {
    others_.clear();
    for (std::size_t h = 0; h < rows_.n; ++h)
      if ((std::size_t(cluster_[h]) == a || std::size_t(cluster_[h]) == b) && h != i) others_.push_back(h);
  }

  // The empty clusters that a split chooses from: of sticks, those in front of the last occupied one and the next behind it; of
  // the symmetric prior all, for which the first stands as in draw().
  std::size_t empty_until(std::size_t top) const {
    const std::size_t end = prior_.sticks ? std::min(top + 1, k_) : k_;
    return std::size_t(std::count(size_.begin(), size_.begin() + std::ptrdiff_t(end), 0));
  }

  // log of p(the second object | apart) / p(it | together), of an object in a cluster that is `part` of `whole`.
  double log_pairs(std::int64_t whole, std::int64_t part) const {
    return std::log(double(whole - 1)) - std::log(double(std::int64_t(rows_.n) - part));
  }

  // log p(Z), up to a constant, from the sizes.
  double log_prior() const {
    double sum = 0;
    if (!prior_.sticks) {
      const double each = prior_.alpha / double(k_), none = log_gamma(each);
      for (const std::int64_t size : size_)
        if (size) sum += log_gamma(each + double(size)) - none;
      return sum;
    }
    const double stick = std::log(prior_.alpha);
    double here_on = double(rows_.n);
    for (std::size_t k = 0; k + 1 < k_ && here_on > 0; ++k) {
      const double size = double(size_[k]), alpha = prior_.alpha;
      sum += stick + log_gamma(1 + size) + log_gamma(alpha + here_on - size) - log_gamma(1 + alpha + here_on);
      here_on -= size;
    }
    return sum;
  }

  // Sticks favor large clusters in front, and single objects cannot carry a cluster there: a Metropolis step for every
  // pair of neighbors, from the back, which only the prior notices. Pairs of empty clusters would change nothing.
  void swap_neighbors(Stream& random) {
    std::vector<std::int32_t> name(k_), place(k_);
    for (std::size_t k = 0; k < k_; ++k) name[k] = std::int32_t(k);
    double behind = 0;  // members of the clusters behind the pair
    for (std::size_t k = std::min(top_, k_ - 1); k-- > 0;) {
      if (random.uniform() < swapped_odds(k, behind)) {
        swap_columns(k);
        std::swap(name[k], name[k + 1]);
      }
      behind += double(size_[k + 1]);
    }
    top_ = std::min(top_ + 1, k_);
    while (!size_[top_ - 1]) --top_;
    for (std::size_t k = 0; k < k_; ++k) place[std::size_t(name[k])] = std::int32_t(k);
    for (std::size_t i = 0; i < rows_.n; ++i) cluster_[i] = place[std::size_t(cluster_[i])];
  }

  void swap_columns(std::size_t k) {
    std::swap(size_[k], size_[k + 1]);
    for (std::size_t t = k; t < table_.size(); t += k_) {
      std::swap(table_[t], table_[t + 1]);
      std::swap(logs_[t], logs_[t + 1]);
    }
    for (std::size_t t = k; t < total_.size(); t += k_) {
      std::swap(total_[t], total_[t + 1]);
      std::swap(total_logs_[t], total_logs_[t + 1]);
    }
  }

  // p(Z with k and k + 1 swapped) / p(Z).
  double swapped_odds(std::size_t k, double behind) const {
    const double a = double(size_[k]), b = double(size_[k + 1]), alpha = prior_.alpha;
    if (k + 2 < k_) return (alpha + b + behind) / (alpha + a + behind);
    // The last cluster has no stick of its own: Gamma(1 + b) Gamma(alpha + a) / (Gamma(1 + a) Gamma(alpha + b)).
    double odds = 1;
    for (double x = std::min(a, b); x < std::max(a, b); ++x) odds *= (alpha + x) / (1 + x);
    return a > b ? odds : 1 / odds;
  }
};

}  // namespace consilience
