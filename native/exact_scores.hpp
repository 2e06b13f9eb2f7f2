// What a row adds to the information in a few clusters, exactly. The row stays in its own cluster meanwhile, whose cells are taken
// without it: tables change only when a row moves. All values whose logarithm is asked for stand side by side, so that vectors are full
// however few clusters there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition_tables.hpp"
#include "rows.hpp"
#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

class ExactScores {
 public:
  // score[c] of the candidates, `own` among them: the row's part of the objective if it is in cluster c. Entries of a view are added in
  // their order, then its total is.
  void find(const Rows<double>& rows, const Tables<double>& tables, const Row<double>& row, std::size_t own,
            const std::vector<std::int32_t>& candidates, double* score) {
    count_ = candidates.size();
    gather(rows, tables, row, own, candidates.data());
    std::size_t size = 2 * count_ * lines_;
    while (size % 4) value_[size++] = 1;  // the last lanes are full too
    on_widest([](auto, double* value, std::size_t n) CONSILIENCE_LAMBDA {
      for (std::size_t t = 0; t < n; ++t) value[t] = fast_xlogx(value[t]);
    }, value_.data(), size);
    for (std::int32_t c : candidates) score[c] = 0;
    for (const View& view : views_) add_view(view, rows.scale[view.number], candidates.data(), score);
  }

 private:
  // A line is an entry or a total: what stands in each candidate with it, then what stands there without it.
  struct View {
    std::size_t number, begin, end;  // lines; the last is the total
  };
  std::size_t count_ = 0, lines_ = 0;
  std::vector<double> value_;
  std::vector<View> views_;
  std::vector<std::size_t> cells_, totals_;

  void gather(const Rows<double>& rows, const Tables<double>& tables, const Row<double>& row, std::size_t own,
              const std::int32_t* candidates) {
    const std::size_t most = (row.size + rows.views) * 2 * count_ + 4;
    if (value_.size() < most) value_.resize(most);
    views_.clear(), cells_.clear(), totals_.clear();
    for (std::size_t t = 0; t < count_; ++t) {
      totals_.push_back(std::size_t(candidates[t]));
      cells_.push_back(totals_.back() * tables.cluster_step);
    }
    lines_ = 0;
    std::size_t e = 0, place = 0;
    while (std::size_t(candidates[place]) != own) ++place;
    while (e < row.size) {
      const std::size_t v = std::size_t(rows.view_of[row.column[e]]), begin = lines_;
      const bool single = tables.single(v, own);
      double mass = 0;
      for (; e < row.size && std::size_t(rows.view_of[row.column[e]]) == v; ++e) {
        const double x = row.at(e);
        mass += x;
        add_line(tables.table.data() + std::size_t(row.column[e]) * tables.column_step, cells_.data(), x, place, single);
      }
      add_line(tables.total.data() + v * tables.k, totals_.data(), mass, place, single);
      views_.push_back({v, begin, lines_});
    }
  }

  // `at` says where the candidates' cells are.
  void add_line(const double* cell, const std::size_t* at, double x, std::size_t own, bool single) {
    double *const with = value_.data() + lines_++ * 2 * count_, *const without = with + count_;
    for (std::size_t t = 0, count = count_; t < count; ++t) {
      const double now = cell[at[t]];
      without[t] = now;
      with[t] = now + x;
    }
    const double less = single ? 0.0 : Tables<double>::less(cell[at[own]], x);
    without[own] = less;
    with[own] = less + x;
  }

  // Four clusters at a time: sums that do not wait for each other.
  void add_view(const View& view, double scale, const std::int32_t* candidates, double* score) const {
    std::size_t t = 0;
    for (; t + 4 <= count_; t += 4) add_up<4>(view, scale, t, candidates, score);
    if (count_ - t == 3) add_up<3>(view, scale, t, candidates, score);
    if (count_ - t == 2) add_up<2>(view, scale, t, candidates, score);
    if (count_ - t == 1) add_up<1>(view, scale, t, candidates, score);
  }

  template <std::size_t kClusters>
  void add_up(const View& view, double scale, std::size_t first, const std::int32_t* candidates, double* score) const {
    double sum[kClusters] = {};
    const double* with = value_.data() + view.begin * 2 * count_ + first;
    for (std::size_t l = view.begin; l + 1 < view.end; ++l, with += 2 * count_)
      for (std::size_t t = 0; t < kClusters; ++t) sum[t] += with[t] - with[count_ + t];
    for (std::size_t t = 0; t < kClusters; ++t) score[candidates[first + t]] += scale * (sum[t] - (with[t] - with[count_ + t]));
  }
};

}  // namespace consilience
