// Many k-means runs (Lloyd's algorithm) over one shared table, each with its own feature weights, number of clusters
// and random stream. A run's sums of rows follow the points that move; runs are the parallel unit.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "lloyd_dense.hpp"
#include "lloyd_sparse.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace consilience::kmeans {

enum class Init { kRandom, kPlusPlus, kGiven };

struct LloydOptions {
  Init init;
  std::int32_t max_iter;
  std::uint64_t seed;
};

struct LloydRun {
  std::size_t clusters;
  std::uint64_t unit;
  const double* weights;      // of the features; null: all 1
  const std::int64_t* start;  // objects to start from, with Init::kGiven
};

struct LloydResult {
  double inertia, seconds;
  std::int32_t steps;
};

template <class Scores>
class Lloyd {
 public:
  using Table = typename Scores::Table;
  Lloyd(const Table& table, const LloydOptions& options)
      : table_(table), options_(options), scores_(table), labels_(table.padded()), square_(table.d) {}

  LloydResult run(const LloydRun& given, std::int32_t* labels) {
    const auto began = std::chrono::steady_clock::now();
    k_ = given.clusters;
    const double top = weigh(given.weights);
    scores_.begin(k_, square_.data());
    std::fill(labels_.begin(), labels_.end(), kNowhere);
    sums_.assign(k_ * table_.d, 0.0);
    centers_ = sums_;
    norms_.assign(k_, 0.0);
    members_.assign(k_, 0);
    start(given);
    std::int32_t steps = 0;
    bool moving = true;
    while (moving && steps < options_.max_iter) {
      ++steps;
      moving = step();
    }
    if (moving) step();  // the labels of the last centers
    std::copy(labels_.begin(), labels_.begin() + std::ptrdiff_t(table_.n), labels);
    const double inertia = sum_of_squares() * top * top;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    return {inertia, taken.count(), steps};
  }

 private:
  static constexpr std::int32_t kNowhere = -2;

  // square_ = (w / top)^2; returns the largest weight.
  double weigh(const double* weights) {
    double top = weights ? *std::max_element(weights, weights + table_.d) : 1.0;
    if (!(top > 0)) top = 1.0;
    for (std::size_t j = 0; j < table_.d; ++j) square_[j] = weights ? (weights[j] / top) * (weights[j] / top) : 1.0;
    return top;
  }

  void start(const LloydRun& given) {
    Stream random(options_.seed, given.unit);
    if (options_.init == Init::kPlusPlus) return plus_plus(random);
    chosen_.resize(table_.n);
    std::iota(chosen_.begin(), chosen_.end(), std::int64_t(0));
    for (std::size_t c = 0; c < k_; ++c) {
      if (options_.init == Init::kRandom) std::swap(chosen_[c], chosen_[c + random.below(table_.n - c)]);
      begin_at(c, std::size_t(options_.init == Init::kRandom ? chosen_[c] : given.start[c]));
    }
  }

  // k-means++ (Arthur & Vassilvitskii 2007): each next object with probability as its squared distance to the nearest
  // so far.
  void plus_plus(Stream& random) {
    distance_.assign(table_.n, std::numeric_limits<double>::infinity());
    chosen_.clear();
    for (std::size_t c = 0; c < k_; ++c) {
      chosen_.push_back(std::int64_t(c ? draw(random) : random.below(table_.n)));
      begin_at(c, std::size_t(chosen_.back()));
      for (std::size_t i = 0; i < table_.n; ++i) distance_[i] = std::min(distance_[i], distance_to(i, c));
      for (const std::int64_t i : chosen_) distance_[std::size_t(i)] = 0;
    }
  }

  // An object with probability as its distance_; where all are 0, the first not chosen.
  std::size_t draw(Stream& random) const {
    double left = random.uniform() * std::accumulate(distance_.begin(), distance_.end(), 0.0);
    std::size_t last = table_.n;
    for (std::size_t i = 0; i < table_.n; ++i) {
      if (distance_[i] <= 0) continue;
      last = i;
      if ((left -= distance_[i]) < 0) break;
    }
    for (std::size_t i = 0; last == table_.n; ++i)
      if (std::find(chosen_.begin(), chosen_.end(), std::int64_t(i)) == chosen_.end()) last = i;
    return last;
  }

  void begin_at(std::size_t c, std::size_t i) {
    double* center = centers_.data() + c * table_.d;
    table_.add(i, 1.0, center);
    place(c, center, std::numeric_limits<double>::infinity());
  }

  // A center that is nowhere (null) has an infinite norm.
  void place(std::size_t c, const double* center, double moved) {
    norms_[c] = center ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; center && j < table_.d; ++j) norms_[c] += square_[j] * center[j] * center[j];
    scores_.place(c, center, moved);
  }

  double distance_to(std::size_t i, std::size_t c) const {
    return table_.distance(i, centers_.data() + c * table_.d, norms_[c], square_.data());
  }

  // Points to their nearest centers, centers to the means of their points; whether any point moved.
  bool step() {
    touched_.assign(k_, 0);
    bool moved = false;
    scores_.visit_changes(labels_.data(), [&](std::size_t i, std::int32_t nearest) {
      const std::int32_t to = nearest < 0 ? decide(i) : nearest;
      if (to == labels_[i]) return;
      move(i, to);
      moved = true;
    });
    if (!moved) return false;
    if (std::find(members_.begin(), members_.end(), 0) != members_.end()) fill_empty();
    for (std::size_t c = 0; c < k_; ++c)
      if (touched_[c]) settle(c);
    return true;
  }

  // The nearest center in doubles; the first of equals.
  std::int32_t decide(std::size_t i) const {
    double low = std::numeric_limits<double>::infinity();
    std::int32_t best = 0;
    for (std::size_t c = 0; c < k_; ++c) {
      if (std::isinf(norms_[c])) continue;
      const double distance = distance_to(i, c);
      if (distance < low) low = distance, best = std::int32_t(c);
    }
    return best;
  }

  void move(std::size_t i, std::int32_t to) {
    if (labels_[i] >= 0) {
      const std::size_t from = std::size_t(labels_[i]);
      table_.add(i, -1.0, sums_.data() + from * table_.d);
      --members_[from];
      touched_[from] = 1;
    }
    table_.add(i, 1.0, sums_.data() + std::size_t(to) * table_.d);
    ++members_[std::size_t(to)];
    touched_[std::size_t(to)] = 1;
    labels_[i] = to;
  }

  // Every empty cluster takes the object farthest from its center, out of a cluster that has others; none is taken
  // from its own place, so that fewer distinct objects than clusters leave some empty.
  void fill_empty() {
    const std::vector<double> origin(table_.d, 0.0);
    distance_.resize(table_.n);
    for (std::size_t i = 0; i < table_.n; ++i) {
      const std::size_t c = std::size_t(labels_[i]);
      const double squares = norms_[c] + table_.distance(i, origin.data(), 0.0, square_.data());
      distance_[i] = distance_to(i, c);
      if (distance_[i] <= Table::kNothing * squares) distance_[i] = 0;
    }
    for (std::size_t c = 0; c < k_; ++c) {
      if (members_[c]) continue;
      std::size_t far = table_.n;
      for (std::size_t i = 0; i < table_.n; ++i)
        if (members_[std::size_t(labels_[i])] > 1 && distance_[i] > (far < table_.n ? distance_[far] : 0.0)) far = i;
      if (far == table_.n) return;
      move(far, std::int32_t(c));
      distance_[far] = 0;
    }
  }

  void settle(std::size_t c) {
    double *const sum = sums_.data() + c * table_.d, *const center = centers_.data() + c * table_.d;
    if (!members_[c]) {
      std::fill(sum, sum + table_.d, 0.0);
      return place(c, nullptr, 0.0);
    }
    double moved = norms_[c];  // infinite if it was nowhere
    if (!std::isinf(moved)) moved = 0;
    for (std::size_t j = 0; j < table_.d; ++j) {
      const double at = sum[j] / double(members_[c]);
      moved += square_[j] * (at - center[j]) * (at - center[j]);
      center[j] = at;
    }
    place(c, center, std::sqrt(moved));
  }

  double sum_of_squares() const {
    double sum = 0;
    for (std::size_t i = 0; i < table_.n; ++i) sum += distance_to(i, std::size_t(labels_[i]));
    return sum;
  }

  const Table& table_;
  const LloydOptions options_;
  Scores scores_;
  std::size_t k_ = 0;
  std::vector<std::int32_t> labels_;
  std::vector<double> square_;                  // of the features
  std::vector<double> centers_, sums_, norms_;  // [cluster][feature], and |w c|^2
  std::vector<std::int64_t> members_, chosen_;
  std::vector<std::uint8_t> touched_;  // clusters whose points changed in this step
  std::vector<double> distance_;
};

// labels is runs x n. Each run uses its own stream and writes its own row, so threads do not matter.
template <class Scores>
void lloyd(const typename Scores::Table& table, const LloydOptions& options, const std::vector<LloydRun>& runs,
           int threads, std::int32_t* labels, LloydResult* results) {
  std::vector<Lloyd<Scores>> worker(workers(runs.size(), threads), Lloyd<Scores>(table, options));
  parallel_for(runs.size(), threads, [&](std::size_t r, std::size_t w) {
    results[r] = worker[w].run(runs[r], labels + r * table.n);
  });
}

}  // namespace consilience::kmeans
