// The information engine's inner step: one pass over the objects, each moved to the cluster where the objective
// grows most (Hartigan's rule), with differences computed on the changed cells only.
//
// Which clusters are scored exactly: all; or, with a shortlist, the best by linear scores; or, for information about
// real counts, those whose score in single precision comes near the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "candidates.hpp"
#include "exact_scores.hpp"
#include "parallel.hpp"
#include "partition_tables.hpp"
#include "random.hpp"
#include "rows.hpp"
#include "vectors.hpp"

namespace consilience {

struct SweepOptions {
  std::size_t clusters = 1;
  Objective objective = Objective::kShannon;
  double temperature = 0;    // Gumbel noise on the scores, in units of the row's mass; 0 is plain search
  double capacity = std::numeric_limits<double>::infinity();  // largest weight of a cluster
  bool keep_clusters = true;  // the last row of a cluster stays
  std::size_t shortlist = 0;  // candidates checked exactly, chosen by linear scores; 0: all that could be the best
  std::uint64_t seed = 0, unit = 0;
  std::size_t block = 1;  // rows whose candidates are listed together, before any of them moves
  int threads = 1;        // that list candidates
  std::size_t fixed = 0;  // last rows, one for all that a cluster holds elsewhere: they are never in the order
};

struct SweepResult {
  double before, after;  // objective, without the terms that do not depend on the partition
  std::int64_t moves;
};

template <class Count>
class Sweep : private Watcher<Count> {
 public:
  Sweep(const Rows<Count>& rows, const SweepOptions& options, std::int32_t* labels)
      : rows_(rows), options_(options), k_(options.clusters), labels_(labels),
        tables_(rows, options.objective, options.clusters, lists(), labels, options.fixed), reader_(rows), noise_(options.seed, options.unit) {
    unit_ = 1 / tables_.mean_entry;
    scores_.assign(k_, 0.0);
    change_.assign(k_ + 3, 0.0);
    gumbel_.assign(k_, 0.0);
    candidates_.resize(k_);
    for (std::size_t c = 0; c < k_; ++c) candidates_[c] = std::int32_t(c);
    if (lists()) {
      logs_ = LogTiles(rows_.columns + rows_.views, k_);
      hints_.resize(k_ * options_.shortlist);
      for (std::size_t t = 0; t < hints_.size(); ++t) hints_[t] = std::int32_t(t % options_.shortlist);
    }
    if (looks_near()) near_ = NearScores(rows_.columns + rows_.views, k_);
    if (!lists() && !looks_near()) return;
    tables_.watcher = this;
    for (std::size_t y = 0; y < rows_.columns; ++y)
      for (std::size_t c = 0; c < k_; ++c) set(y, c, tables_.table[tables_.cell(y, c)]);
    for (std::size_t v = 0; v < rows_.views; ++v)
      for (std::size_t c = 0; c < k_; ++c) set(rows_.columns + v, c, tables_.total[v * k_ + c]);
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  SweepResult run(const std::int64_t* order, std::size_t length) {
    SweepResult result{value(), 0, 0};
    double gained = 0;
    const std::size_t block = std::max<std::size_t>(lists() ? options_.block : length, 1);
    for (std::size_t begin = 0; begin < length; begin += block) {
      const std::size_t end = std::min(begin + block, length);
      if (lists()) list_candidates(order + begin, end - begin);
      for (std::size_t t = begin; t < end; ++t) {
        if (t + 8 < length) fetch(std::size_t(order[t + 8]));
        gained += visit(std::size_t(order[t]), t - begin, result.moves);
      }
    }
    result.after = result.before + gained;
    return result;
  }

  // The objective at the start, without constants.
  double value() const { return tables_.value(); }

 private:
  static constexpr bool kReal = std::is_same<Count, double>::value;
  static constexpr std::size_t kTogether = 16;  // rows a worker lists candidates for at a time

  const Rows<Count>& rows_;
  const SweepOptions options_;
  const std::size_t k_;
  std::int32_t* labels_;
  Tables<Count> tables_;
  RowReader<Count> reader_;
  std::vector<RowReader<Count>> readers_;  // of the workers that list candidates
  std::vector<LogTiles::Block> blocks_;
  Stream noise_;
  Row<Count> row_{};  // the row in hand
  double unit_ = 1;   // over the mean entry: approximate scores are blind to the scale of the counts
  LogTiles logs_;     // of the cells, and after their columns of the totals
  NearScores near_;
  ExactScores exact_;
  std::vector<std::int32_t> listed_, candidates_;
  std::vector<std::int32_t> hints_;  // what was listed last for a row of each cluster: much the same as for its other rows
  std::vector<double> scores_, change_, gumbel_;
  std::vector<std::size_t> places_;  // of the candidates, with what was found of them: cells side by side, and scores
  std::vector<Count> cells_;
  std::vector<double> among_;

  bool lists() const { return options_.shortlist && options_.shortlist < k_; }
  bool looks_near() const {
    return kReal && options_.objective == Objective::kShannon && !lists();
  }

  // An empty cell scores as if a small share of a mean cell were in it: 1/e of the mean entry.
  void set(std::size_t line, std::size_t c, Count x) override {
    if (lists())
      logs_.at(line, c) = fast_log_float(float(double(x) * unit_) + 0.36787944f);
    else
      near_.at(line, c) = float(double(x) * unit_);
  }

  // Finds the best place of a row; returns what the objective gains.
  double visit(std::size_t i, std::size_t place, std::int64_t& moves) {
    const std::size_t old = std::size_t(labels_[i]);
    if (options_.keep_clusters && tables_.members[old] == 1) return 0;
    row_ = reader_.read(i);
    if (row_.size == 0) return 0;  // an empty row belongs anywhere: it stays
    if (lists()) choose_listed(place, old);
    draw_noise(old);
    if (looks_near() && !choose_near(i, old)) return 0;
    if constexpr (kReal) {
      if (options_.objective == Objective::kShannon) return move_if_better(i, old, moves);
    }
    tables_.take(row_, i, old);
    score();
    const std::size_t best = choose(i, old);
    if (best == old) {
      tables_.put_back(row_, i, old);
      return 0;
    }
    ++moves;
    labels_[i] = std::int32_t(best);
    tables_.put(row_, i, best);
    return scores_[best] - scores_[old];
  }

  // The same where the exact scores need not take the row out of its cluster.
  double move_if_better(std::size_t i, std::size_t old, std::int64_t& moves) {
    exact_.find(rows_, tables_, row_, old, candidates_, scores_.data());
    const std::size_t best = choose(i, old);
    if (best == old) return 0;
    ++moves;
    labels_[i] = std::int32_t(best);
    tables_.move(row_, i, old, best);
    return scores_[best] - scores_[old];
  }

  // Rows are met in random order: ask for those to come.
  void fetch(std::size_t i) const {
#if defined(__GNUC__)
    const std::int64_t e = rows_.start[i];
    for (int line = 0; line < 4; ++line) __builtin_prefetch(rows_.column + e + 16 * line);
    for (int line = 0; rows_.value && line < 4; ++line) __builtin_prefetch(rows_.value + e + 8 * line);
#else
    (void)i;
#endif
  }

  bool fits(std::size_t i, std::size_t c) const {
    return tables_.load[c] + double(rows_.weight[i]) <= options_.capacity;
  }

  // Calls cell(e, view) for every entry of a row, and after those of a view total(view, mass).
  template <class Cell, class Total>
  void by_view(const Row<Count>& row, Cell cell, Total total) const {
    std::size_t e = 0;
    if (rows_.views == 1 && row.size) {
      Count mass = 0;
      for (; e < row.size; ++e) cell(e, std::size_t(0)), mass += row.at(e);
      total(std::size_t(0), mass);
    }
    while (e < row.size) {
      const std::size_t v = std::size_t(rows_.view_of[row.column[e]]);
      Count mass = 0;
      for (; e < row.size && std::size_t(rows_.view_of[row.column[e]]) == v; ++e) cell(e, v), mass += row.at(e);
      total(v, mass);
    }
  }

  // The best clusters of some rows by linear scores (Shannon's derivative, which ranks well for all objectives).
  void list_candidates(const std::int64_t* order, std::size_t count) {
    const std::size_t wanted = options_.shortlist;
    listed_.resize(count * wanted);
    const std::size_t parts = (count + kTogether - 1) / kTogether;
    while (readers_.size() < workers(parts, options_.threads)) readers_.emplace_back(rows_), blocks_.emplace_back();
    parallel_for(parts, options_.threads, [&](std::size_t part, std::size_t worker) {
      const std::size_t begin = part * kTogether, end = std::min(begin + kTogether, count);
      RowReader<Count>& reader = readers_[worker];
      LogTiles::Block& block = blocks_[worker];
      block.clear();
      for (std::size_t t = begin; t < end; ++t) {
        const Row<Count> row = reader.read(std::size_t(order[t]));
        by_view(
            row,
            [&](std::size_t e, std::size_t v) {
              block.add(std::size_t(row.column[e]), float(double(row.at(e)) * rows_.scale[v]));
            },
            [&](std::size_t v, Count mass) { block.add(rows_.columns + v, -float(double(mass) * rows_.scale[v])); });
        block.end_row();
      }
      for (std::size_t t = begin; t < end; ++t) {
        const std::int32_t* const hint = hints_.data() + std::size_t(labels_[order[t]]) * wanted;
        std::copy(hint, hint + wanted, listed_.data() + t * wanted);
      }
      logs_.best(block, wanted, listed_.data() + begin * wanted);
    });
    for (std::size_t t = 0; t < count; ++t)
      std::copy_n(listed_.data() + t * wanted, wanted, hints_.data() + std::size_t(labels_[order[t]]) * wanted);
  }

  void choose_listed(std::size_t place, std::size_t old) {
    const std::int32_t* const listed = listed_.data() + place * options_.shortlist;
    candidates_.assign(listed, listed + options_.shortlist);
    if (std::find(candidates_.begin(), candidates_.end(), std::int32_t(old)) == candidates_.end())
      candidates_.push_back(std::int32_t(old));
    std::sort(candidates_.begin(), candidates_.end());
  }

  // The clusters whose near score could be the best, and the old one; false if there is none but the old.
  bool choose_near(std::size_t i, std::size_t old) {
    near_.clear();
    double mass_of_row = 0;
    for (std::size_t e = 0, end = 0; e < row_.size; e = end) {
      const std::size_t v = view_at(e);
      for (end = rows_.views == 1 ? row_.size : e + 1; end < row_.size && view_at(end) == v;) ++end;
      const double mass = add_near(e, end, rows_.scale[v]);
      near_.add(rows_.columns + v, float(mass * unit_), -float(mass * rows_.scale[v]));
      mass_of_row += mass * rows_.scale[v];
    }
    near_.score(old);
    const float* const score = near_.scores();
    const double margin = double(NearScores::kError) * mass_of_row;
    candidates_.clear();
    if (options_.temperature <= 0 && options_.capacity == std::numeric_limits<double>::infinity()) {
      const float least = float(double(near_.largest()) - margin);
      for (std::size_t c = 0; c < k_; ++c)
        if (score[c] >= least || c == old) candidates_.push_back(std::int32_t(c));
      return candidates_.size() > 1;
    }
    double top = double(score[old]) + gumbel_[old];
    for (std::size_t c = 0; c < k_; ++c)
      if (c != old && double(score[c]) + gumbel_[c] > top && fits(i, c)) top = double(score[c]) + gumbel_[c];
    for (std::size_t c = 0; c < k_; ++c)
      if (c == old || (double(score[c]) + gumbel_[c] >= top - margin && fits(i, c))) candidates_.push_back(std::int32_t(c));
    return candidates_.size() > 1;
  }

  std::size_t view_at(std::size_t e) const { return rows_.views == 1 ? 0 : std::size_t(rows_.view_of[row_.column[e]]); }

  double add_near(std::size_t begin, std::size_t end, double scale) {
    if (row_.value) return near_.add(row_.column + begin, row_.value + begin, end - begin, unit_, scale);
    const double x = double(row_.weight);
    for (std::size_t e = begin; e < end; ++e) near_.add(std::size_t(row_.column[e]), float(x * unit_), float(x * scale));
    return x * double(end - begin);
  }

  // scores_[c] = the row's part of the objective if it joins cluster c, for the candidates.
  void score() {
    if (!lists() && candidates_.size() == k_)
      return on_widest([this](auto) CONSILIENCE_LAMBDA { score_with(All{k_}, scores_.data()); });
    const std::size_t count = (candidates_.size() + 3) / 4 * 4;  // the first fills the last four lanes
    places_.assign(count, std::size_t(candidates_[0]));
    std::copy(candidates_.begin(), candidates_.end(), places_.begin());
    cells_.resize(count), among_.resize(count);
    on_widest([this](auto) CONSILIENCE_LAMBDA {
      score_with(Listed{places_.data(), places_.size(), cells_.data()}, among_.data());
    });
    for (std::size_t t = 0; t < candidates_.size(); ++t) scores_[places_[t]] = among_[t];
  }

  struct All {
    std::size_t count;
    CONSILIENCE_INLINE std::size_t operator[](std::size_t t) const { return t; }
    CONSILIENCE_INLINE const Count* side_by_side(const Count* column, std::size_t) const { return column; }
  };
  struct Listed {
    const std::size_t* places;
    std::size_t count;
    Count* cells;
    CONSILIENCE_INLINE std::size_t operator[](std::size_t t) const { return places[t]; }
    CONSILIENCE_INLINE const Count* side_by_side(const Count* column, std::size_t step) const {
      for (std::size_t t = 0; t < count; ++t) cells[t] = column[places[t] * step];
      return cells;
    }
  };

  // scores[t] of cluster clusters[t].
  template <class Clusters>
  CONSILIENCE_INLINE void score_with(const Clusters clusters, double* const scores) {
    double* const change = change_.data();
    const auto& phi = tables_.phi;
    const std::size_t count = clusters.count;
    for (std::size_t t = 0; t < count; ++t) scores[t] = 0;
    std::size_t e = 0;
    while (e < row_.size) {
      const std::size_t v = std::size_t(rows_.view_of[row_.column[e]]);
      for (std::size_t t = 0; t < count; ++t) change[t] = 0;
      Count mass = 0;
      for (; e < row_.size && std::size_t(rows_.view_of[row_.column[e]]) == v; ++e) {
        const Count x = row_.at(e);
        const Count* const column = tables_.table.data() + std::size_t(row_.column[e]) * tables_.column_step;
        const Count* const cell = clusters.side_by_side(column, tables_.cluster_step);
        mass += x;
        if (options_.objective == Objective::kQuadratic) {
          for (std::size_t t = 0; t < count; ++t) change[t] += double(x) * (2 * double(cell[t]) + double(x));
        } else {
          add_rises(phi, cell, x, count, change);
        }
      }
      finish_view(v, mass, clusters, scores);
    }
  }

  // On its own, where nothing else points to what is changed: or lanes would wait for each other.
  static CONSILIENCE_INLINE void add_rises(const Phi<Count>& phi, const Count* __restrict cell, Count x, std::size_t count,
                                           double* __restrict change) {
    for (std::size_t t = 0; t < count; ++t) change[t] += phi.rise(cell[t], x);
  }

  template <class Clusters>
  CONSILIENCE_INLINE void finish_view(std::size_t v, Count mass, const Clusters clusters, double* const scores) {
    const auto& phi = tables_.phi;
    const Count* const total = tables_.total.data() + v * k_;
    const double *const squares = tables_.squares.data() + v * k_, *const kept = tables_.kept.data() + v * k_;
    const double* const change = change_.data();
    const double scale = rows_.scale[v];
    if (options_.objective == Objective::kShannon) {
      for (std::size_t t = 0; t < clusters.count; ++t)
        scores[t] += scale * (change[t] - phi.rise(total[clusters[t]], mass));
    } else if (options_.objective == Objective::kQuadratic) {
      for (std::size_t t = 0; t < clusters.count; ++t) {
        const std::size_t c = clusters[t];
        scores[t] += scale * ((squares[c] + change[t]) / (double(total[c]) + double(mass)) - kept[c]);
      }
    } else {
      for (std::size_t t = 0; t < clusters.count; ++t) {
        const double sum = tables_.sums[v] + phi.rise(total[clusters[t]], mass);
        scores[t] += scale * tables_.nmi(v, tables_.cells[v] + change[t], sum);
      }
    }
  }

  // Gumbel noise for every candidate, in units of the row's mass.
  void draw_noise(std::size_t old) {
    if (options_.temperature <= 0) return;
    double mass = 0;
    for (std::size_t e = 0; e < row_.size; ++e) {
      const std::size_t v = view_at(e);
      const double share = options_.objective == Objective::kNormalized ? 1 / tables_.amount[v] : 1.0;  // else in the scale
      mass += rows_.scale[v] * share * double(row_.at(e));
    }
    const double unit = options_.temperature * mass;
    auto draw = [&] { return noise_.uniform() + 0x1.0p-54; };  // never the log of 0
    gumbel_[old] = draw();
    if (lists()) {
      for (std::int32_t c : candidates_)
        if (std::size_t(c) != old) gumbel_[std::size_t(c)] = draw();
      for (std::int32_t c : candidates_) gumbel_[std::size_t(c)] = gumbel(unit, gumbel_[std::size_t(c)]);
    } else {
      for (std::size_t c = 0; c < k_; ++c)
        if (c != old) gumbel_[c] = draw();
      double* const noise = gumbel_.data();
      const std::size_t k = k_;
      on_widest([=](auto) CONSILIENCE_LAMBDA {
        for (std::size_t c = 0; c < k; ++c) noise[c] = gumbel(unit, noise[c]);
      });
    }
  }

  static CONSILIENCE_INLINE double gumbel(double unit, double uniform) { return -unit * fast_log(-fast_log(uniform)); }

  // The best cluster with room; the old one unless another is better by more than rounding.
  std::size_t choose(std::size_t i, std::size_t old) const {
    std::size_t best = old;
    double top = scores_[old] + gumbel_[old];
    for (std::int32_t candidate : candidates_) {
      const std::size_t c = std::size_t(candidate);
      if (c == old || !fits(i, c)) continue;
      const double s = scores_[c] + gumbel_[c];
      const double margin = best == old ? 1e-12 * (1e-300 + std::fabs(top)) : 0.0;
      if (s > top + margin) top = s, best = c;
    }
    return best;
  }
};

}  // namespace consilience
