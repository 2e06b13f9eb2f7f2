// The information engine's inner step: one pass over the objects, each moved to the cluster where the objective
// grows most (Hartigan's rule), with differences computed on the changed cells only.
//
// Objects carry rows of counts. The columns of all views are numbered through, the entries of a row are sorted, and
// view_of[column] says which view a column belongs to; a label is a row entry whose value is the object's weight, and
// a missing label is no entry. For a partition into k clusters, T[column][c] sums the rows of cluster c, total[view][c]
// sums T over the view's columns. Objectives, each with a scale s_v per view:
//   Shannon     s_v  [ sum phi(T) - sum phi(total) ]                 phi(x) = x log x; the information up to a constant
//   Quadratic   s_v  sum_c [ sum_y T^2 / total ]                     k-means' explained squares
//   Normalised  s_v  I_v / sqrt(H_v(C) H(v))                         sum of NMI
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "random.hpp"
#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

template <class Count>
struct Rows {
  std::size_t n, columns, views;
  const std::int64_t* start;     // n + 1
  const std::int32_t* column;    // of every entry
  const Count* value;            // of every entry; null: the weight of the row
  const Count* weight;           // of every row
  const std::int32_t* view_of;   // of every column
  const double* scale;           // s_v

  Count at(std::size_t i, std::int64_t e) const { return value ? value[e] : weight[i]; }
};

// phi of counts: from the table where they are whole numbers, by log otherwise.
template <class Count>
struct Phi;
template <>
struct Phi<std::int64_t> {
  std::shared_ptr<const XLogX> table;
  explicit Phi(double largest) : table(shared_xlogx(std::uint64_t(largest))) {}
  double operator()(std::int64_t x) const { return (*table)(std::uint64_t(x)); }
  double rise(std::int64_t x, std::int64_t d) const { return table->rise(std::uint64_t(x), std::uint64_t(d)); }
};
template <>
struct Phi<double> {
  explicit Phi(double) {}
  double operator()(double x) const { return x > 0 ? x * std::log(x) : 0.0; }
  double rise(double x, double d) const { return (*this)(x + d) - (*this)(x); }
};

enum class Objective { kShannon, kQuadratic, kNormalised };

struct SweepOptions {
  std::size_t clusters;
  Objective objective;
  double temperature;   // Gumbel noise on the scores, in units of the row's mass; 0 is plain search
  double capacity;      // largest weight of a cluster
  bool keep_clusters;   // the last row of a cluster stays
  std::size_t shortlist;  // candidates checked exactly, chosen by linear scores; 0: all clusters
  std::uint64_t seed, unit;
};

struct SweepResult {
  double before, after;  // objective, without the terms that do not depend on the partition
  std::int64_t moves;
};

template <class Count>
class Sweep {
 public:
  Sweep(const Rows<Count>& rows, const SweepOptions& options, std::int32_t* labels)
      : rows_(rows), options_(options), k_(options.clusters), labels_(labels), phi_(largest(rows)) {
    build();
  }

  SweepResult run(const std::int64_t* order, std::size_t length) {
    SweepResult result{value(), 0, 0};
    double gained = 0;
    Stream noise(options_.seed, options_.unit);
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t i = std::size_t(order[t]);
      if (t + 8 < length) fetch(std::size_t(order[t + 8]));
      const std::size_t old = std::size_t(labels_[i]);
      if (options_.keep_clusters && members_[old] == 1) continue;
      if (rows_.start[i] == rows_.start[i + 1]) continue;  // an empty row belongs anywhere: it stays
      put(i, old, -1);
      list_candidates(i, old);
      score(i);
      const std::size_t best = choose(i, old, noise);
      gained += scores_[best] - scores_[old];
      result.moves += best != old;
      labels_[i] = std::int32_t(best);
      put(i, best, +1);
    }
    result.after = result.before + gained;
    return result;
  }

  // The objective as it is now, without constants.
  double value() const {
    double sum = 0;
    for (std::size_t v = 0; v < rows_.views; ++v) {
      if (options_.objective == Objective::kNormalised) {
        sum += rows_.scale[v] * nmi(v, cells_[v], sums_[v]);
      } else if (options_.objective == Objective::kShannon) {
        sum += rows_.scale[v] * (cells_[v] - sums_[v]);
      } else {
        for (std::size_t c = 0; c < k_; ++c) sum += rows_.scale[v] * kept_[v * k_ + c];
      }
    }
    return sum;
  }

 private:
  const Rows<Count>& rows_;
  const SweepOptions options_;
  const std::size_t k_;
  std::int32_t* labels_;
  Phi<Count> phi_;
  std::vector<Count> table_, total_;     // T[column][c], total[view][c]
  std::vector<double> squares_, kept_;   // sum_y T^2, [view][c], and it over the total
  std::vector<double> cells_, sums_;     // per view: sum phi(T), sum phi(total)
  std::vector<double> whole_, entropy_;  // per view: phi(N), and phi(N) - sum phi(column totals) = N H(v)
  std::vector<double> offset_, amount_;  // per view: sum phi(column totals), and N
  std::vector<std::int32_t> labelled_;   // rows of each cluster with entries in the view, [view][c]
  std::vector<std::size_t> first_;       // first column of each view, and the end
  std::vector<std::int64_t> members_;
  std::vector<double> load_;             // weight of each cluster
  std::vector<float> logs_, total_logs_, linear_;  // for the shortlist
  std::vector<std::int32_t> candidates_;
  std::vector<double> scores_, change_;

  // The largest sum of a view: no cell exceeds it.
  static double largest(const Rows<Count>& rows) {
    std::vector<double> sum(rows.views + 1, 0.0);
    for (std::size_t i = 0; i < rows.n; ++i)
      for (std::int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e)
        sum[std::size_t(rows.view_of[rows.column[e]])] += double(rows.at(i, e));
    return *std::max_element(sum.begin(), sum.end());
  }

  bool uses_logs() const { return options_.shortlist && options_.shortlist < k_; }

  void build() {
    table_.assign(rows_.columns * k_, Count(0));
    total_.assign(rows_.views * k_, Count(0));
    labelled_.assign(rows_.views * k_, 0);
    members_.assign(k_, 0);
    load_.assign(k_, 0.0);
    for (std::size_t i = 0; i < rows_.n; ++i) {
      const std::size_t c = std::size_t(labels_[i]);
      ++members_[c];
      load_[c] += double(rows_.weight[i]);
      std::size_t last = rows_.views;
      for (std::int64_t e = rows_.start[i]; e < rows_.start[i + 1]; ++e) {
        const std::size_t y = std::size_t(rows_.column[e]), v = std::size_t(rows_.view_of[y]);
        table_[y * k_ + c] += rows_.at(i, e);
        total_[v * k_ + c] += rows_.at(i, e);
        labelled_[v * k_ + c] += v != last;
        last = v;
      }
    }
    cells_.assign(rows_.views, 0.0);
    sums_ = whole_ = entropy_ = offset_ = amount_ = cells_;
    first_.assign(rows_.views + 1, rows_.columns);
    for (std::size_t y = rows_.columns; y-- > 0;) first_[std::size_t(rows_.view_of[y])] = y;
    for (std::size_t v = rows_.views; v-- > 0;) first_[v] = std::min(first_[v], first_[v + 1]);
    squares_.assign(rows_.views * k_, 0.0);
    kept_ = squares_;
    for (std::size_t y = 0; y < rows_.columns; ++y) {
      const std::size_t v = std::size_t(rows_.view_of[y]);
      Count column = 0;
      for (std::size_t c = 0; c < k_; ++c) {
        const Count x = table_[y * k_ + c];
        cells_[v] += phi_(x);
        squares_[v * k_ + c] += double(x) * double(x);
        column += x;
      }
      offset_[v] += phi_(column);
    }
    for (std::size_t v = 0; v < rows_.views; ++v) {
      Count all = 0;
      for (std::size_t c = 0; c < k_; ++c) {
        sums_[v] += phi_(total_[v * k_ + c]);
        all += total_[v * k_ + c];
        kept_[v * k_ + c] = total_[v * k_ + c] > 0 ? squares_[v * k_ + c] / double(total_[v * k_ + c]) : 0.0;
      }
      amount_[v] = double(all);
      whole_[v] = phi_(all);
      entropy_[v] = whole_[v] - offset_[v];
    }
    scores_.assign(k_, 0.0);
    change_.assign(k_, 0.0);
    candidates_.resize(k_);
    for (std::size_t c = 0; c < k_; ++c) candidates_[c] = std::int32_t(c);
    if (uses_logs()) {
      linear_.assign(k_, 0.0f);
      // An empty cell scores as if a small share of a mean cell were in it: 1/e of the mean entry.
      double sum = 0;
      for (std::size_t t = 0; t < total_.size(); ++t) sum += double(total_[t]);
      if (sum > 0) floor_ = sum / double(rows_.start[rows_.n]) * 0.36787944117144233;
      logs_.resize(table_.size());
      total_logs_.resize(total_.size());
      for (std::size_t t = 0; t < table_.size(); ++t) logs_[t] = log_of(table_[t]);
      for (std::size_t t = 0; t < total_.size(); ++t) total_logs_[t] = log_of(total_[t]);
    }
  }

  double floor_ = 1.0;
  float log_of(Count x) const { return float(std::log(double(x) + floor_)); }

  // Adds (sign +1) or removes (-1) a row; every sum follows.
  void put(std::size_t i, std::size_t c, int sign) {
    members_[c] += sign;
    load_[c] += sign * double(rows_.weight[i]);
    const bool with_cells = options_.objective == Objective::kNormalised;
    std::int64_t e = rows_.start[i];
    const std::int64_t end = rows_.start[i + 1];
    while (e < end) {
      const std::size_t v = std::size_t(rows_.view_of[rows_.column[e]]);
      Count mass = 0;
      double squares = 0;
      for (; e < end && std::size_t(rows_.view_of[rows_.column[e]]) == v; ++e) {
        const std::size_t cell = std::size_t(rows_.column[e]) * k_ + c;
        const Count x = rows_.at(i, e), was = table_[cell];
        const Count now = sign > 0 ? was + x : less(was, x);
        table_[cell] = now;
        if (with_cells) cells_[v] += sign * phi_.rise(std::min(was, now), x);
        squares += double(now) * double(now) - double(was) * double(was);
        mass += x;
        if (uses_logs()) logs_[cell] = log_of(now);
      }
      Count& total = total_[v * k_ + c];
      const Count was = total;
      total = sign > 0 ? was + mass : less(was, mass);
      if (with_cells) sums_[v] += sign * phi_.rise(std::min(was, total), mass);
      labelled_[v * k_ + c] += sign;
      if (labelled_[v * k_ + c] == 0)
        clear(v, c);
      else
        add_squares(v, c, squares);
      kept_[v * k_ + c] = total > 0 ? squares_[v * k_ + c] / double(total) : 0.0;
      if (uses_logs()) total_logs_[v * k_ + c] = log_of(total);
    }
  }

  // A cluster without rows in a view holds nothing of it; what rounding left there would be all there is.
  void clear(std::size_t v, std::size_t c) {
    for (std::size_t y = first_[v]; y < first_[v + 1]; ++y) table_[y * k_ + c] = 0;
    total_[v * k_ + c] = 0;
    squares_[v * k_ + c] = 0;
  }

  // Where a heavy row leaves, the difference of squares has lost its digits: they are summed again.
  void add_squares(std::size_t v, std::size_t c, double change) {
    double& squares = squares_[v * k_ + c];
    const double was = squares;
    squares += change;
    if (squares > 1e-4 * was) return;
    squares = 0;
    for (std::size_t y = first_[v]; y < first_[v + 1]; ++y)
      squares += double(table_[y * k_ + c]) * double(table_[y * k_ + c]);
  }

  // Rows are met in random order: ask for those to come.
  void fetch(std::size_t i) const {
#if defined(__GNUC__)
    const std::int64_t e = rows_.start[i];
    __builtin_prefetch(rows_.column + e);
    __builtin_prefetch(rows_.column + e + 16);
    if (rows_.value) __builtin_prefetch(rows_.value + e);
#else
    (void)i;
#endif
  }

  // Rounding may leave a real-valued cell a hair below zero.
  static Count less(Count a, Count b) { return a > b ? a - b : Count(0); }

  bool fits(std::size_t i, std::size_t c) const { return load_[c] + double(rows_.weight[i]) <= options_.capacity; }

  // The clusters to score: all, or the best by linear scores (Shannon's derivative, which ranks well for all objectives), and the old one.
  void list_candidates(std::size_t i, std::size_t old) {
    if (!uses_logs()) return;
    std::fill(linear_.begin(), linear_.end(), 0.0f);
    std::int64_t e = rows_.start[i];
    const std::int64_t end = rows_.start[i + 1];
    while (e < end) {
      const std::size_t v = std::size_t(rows_.view_of[rows_.column[e]]);
      float mass = 0;
      const float scale = float(rows_.scale[v]);
      for (; e < end && std::size_t(rows_.view_of[rows_.column[e]]) == v; ++e) {
        const float x = float(rows_.at(i, e)) * scale;
        add_scaled(linear_.data(), logs_.data() + std::size_t(rows_.column[e]) * k_, x, k_);
        mass += x;
      }
      add_scaled(linear_.data(), total_logs_.data() + v * k_, -mass, k_);
    }
    candidates_.resize(k_);
    for (std::size_t c = 0; c < k_; ++c) candidates_[c] = std::int32_t(c);
    const auto better = [&](std::int32_t a, std::int32_t b) {
      return linear_[std::size_t(a)] != linear_[std::size_t(b)] ? linear_[std::size_t(a)] > linear_[std::size_t(b)] : a < b;
    };
    std::nth_element(candidates_.begin(), candidates_.begin() + std::ptrdiff_t(options_.shortlist), candidates_.end(),
                     better);
    candidates_.resize(options_.shortlist);
    if (std::find(candidates_.begin(), candidates_.end(), std::int32_t(old)) == candidates_.end())
      candidates_.push_back(std::int32_t(old));
    std::sort(candidates_.begin(), candidates_.end());
  }

  static CONSILIENCE_INLINE void add_scaled_with(float* sum, const float* x, float scale, std::size_t n) {
    for (std::size_t t = 0; t < n; ++t) sum[t] += scale * x[t];
  }
  CONSILIENCE_AVX2 static void add_scaled_avx2(float* sum, const float* x, float scale, std::size_t n) {
    add_scaled_with(sum, x, scale, n);
  }
  static void add_scaled(float* sum, const float* x, float scale, std::size_t n) {
    if (has_avx2()) return add_scaled_avx2(sum, x, scale, n);
    add_scaled_with(sum, x, scale, n);
  }

  // scores_[c] = the row's part of the objective if it joins cluster c, for the listed candidates, or for all.
  void score(std::size_t i) {
    if (uses_logs()) return score_with(i, Listed{candidates_.data(), candidates_.size()});
    if (has_avx2()) return score_all_avx2(i);
    score_with(i, All{k_});
  }
  CONSILIENCE_AVX2 void score_all_avx2(std::size_t i) { score_with(i, All{k_}); }

  struct All {
    std::size_t count;
    std::size_t operator[](std::size_t t) const { return t; }
  };
  struct Listed {
    const std::int32_t* clusters;
    std::size_t count;
    std::size_t operator[](std::size_t t) const { return std::size_t(clusters[t]); }
  };

  template <class Clusters>
  CONSILIENCE_INLINE void score_with(std::size_t i, const Clusters clusters) {
    double *const scores = scores_.data(), *const change = change_.data();
    for (std::size_t t = 0; t < clusters.count; ++t) scores[clusters[t]] = 0;
    std::int64_t e = rows_.start[i];
    const std::int64_t end = rows_.start[i + 1];
    while (e < end) {
      const std::size_t v = std::size_t(rows_.view_of[rows_.column[e]]);
      for (std::size_t t = 0; t < clusters.count; ++t) change[clusters[t]] = 0;
      Count mass = 0;
      for (; e < end && std::size_t(rows_.view_of[rows_.column[e]]) == v; ++e) {
        const Count x = rows_.at(i, e);
        const Count* cell = table_.data() + std::size_t(rows_.column[e]) * k_;
        mass += x;
        if (options_.objective == Objective::kQuadratic) {
          for (std::size_t t = 0; t < clusters.count; ++t)
            change[clusters[t]] += double(x) * (2 * double(cell[clusters[t]]) + double(x));
        } else {
          for (std::size_t t = 0; t < clusters.count; ++t) change[clusters[t]] += phi_.rise(cell[clusters[t]], x);
        }
      }
      finish_view(v, mass, clusters);
    }
  }

  template <class Clusters>
  CONSILIENCE_INLINE void finish_view(std::size_t v, Count mass, const Clusters clusters) {
    const Count* total = total_.data() + v * k_;
    const double *const squares = squares_.data() + v * k_, *const kept = kept_.data() + v * k_;
    double *const scores = scores_.data(), *const change = change_.data();
    const double scale = rows_.scale[v];
    if (options_.objective == Objective::kShannon) {
      for (std::size_t t = 0; t < clusters.count; ++t) {
        const std::size_t c = clusters[t];
        scores[c] += scale * (change[c] - phi_.rise(total[c], mass));
      }
    } else if (options_.objective == Objective::kQuadratic) {
      for (std::size_t t = 0; t < clusters.count; ++t) {
        const std::size_t c = clusters[t];
        scores[c] += scale * ((squares[c] + change[c]) / (double(total[c]) + double(mass)) - kept[c]);
      }
    } else {
      for (std::size_t t = 0; t < clusters.count; ++t) {
        const std::size_t c = clusters[t];
        scores[c] += scale * nmi(v, cells_[v] + change[c], sums_[v] + phi_.rise(total[c], mass));
      }
    }
  }

  // NMI of the partition with view v from the sums of phi over cells and over cluster totals.
  double nmi(std::size_t v, double cells, double sums) const {
    const double own = whole_[v] - sums, other = entropy_[v];
    const double none = 1e-9 * (1 + whole_[v]);
    if (own <= none || other <= none) return own <= none && other <= none ? 1.0 : 0.0;
    return std::max(0.0, cells - sums - offset_[v] + whole_[v]) / std::sqrt(own * other);
  }

  // The best cluster with room; the old one unless another is better by more than rounding.
  std::size_t choose(std::size_t i, std::size_t old, Stream& noise) {
    const double unit = options_.temperature > 0 ? options_.temperature * mass_of(i) : 0.0;
    auto shaken = [&](double score) { return unit > 0 ? score - unit * std::log(-std::log(open(noise))) : score; };
    std::size_t best = old;
    double top = shaken(scores_[old]);
    for (std::int32_t candidate : candidates_) {
      const std::size_t c = std::size_t(candidate);
      if (c == old || !fits(i, c)) continue;
      const double s = shaken(scores_[c]);
      const double margin = best == old ? 1e-12 * (1e-300 + std::fabs(top)) : 0.0;
      if (s > top + margin) top = s, best = c;
    }
    return best;
  }

  double mass_of(std::size_t i) const {
    double mass = 0;
    for (std::int64_t e = rows_.start[i]; e < rows_.start[i + 1]; ++e) {
      const std::size_t v = std::size_t(rows_.view_of[rows_.column[e]]);
      const double share = options_.objective == Objective::kNormalised ? 1 / amount_[v] : 1.0;  // else in the scale
      mass += rows_.scale[v] * share * double(rows_.at(i, e));
    }
    return mass;
  }

  static double open(Stream& noise) { return noise.uniform() + 0x1.0p-54; }  // never 0
};

}  // namespace consilience
