// A partition's tables and the objective they give, kept up to date as rows come and go.
//
// T[column][c] sums the rows of cluster c, total[view][c] sums T over the view's columns. Objectives, each with a scale
// s_v per view:
//   Shannon     s_v  [ sum phi(T) - sum phi(total) ]                 phi(x) = x log x; the information up to a constant
//   Quadratic   s_v  sum_c [ sum_y T^2 / total ]                     k-means' explained squares
//   Normalized  s_v  I_v / sqrt(H_v(C) H(v))                         sum of NMI
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "rows.hpp"
#include "xlogx.hpp"

namespace consilience {

enum class Objective { kShannon, kQuadratic, kNormalized };

// Told of every cell and total that changes: line `column`, or `columns + view` for a total.
template <class Count>
struct Watcher {
  virtual void set(std::size_t line, std::size_t cluster, Count x) = 0;

 protected:
  ~Watcher() = default;
};

template <class Count>
class Tables {
 public:
  // Cells of a column stand together where all clusters are scored, those of a cluster where few are.
  // The last `fixed` rows stand for objects that are elsewhere, and say nothing of how large an entry is.
  Tables(const Rows<Count>& rows, Objective objective, std::size_t clusters, bool by_cluster, const std::int32_t* labels,
         std::size_t fixed)
      : k(clusters), column_step(by_cluster ? 1 : clusters), cluster_step(by_cluster ? rows.columns : 1), rows_(rows),
        objective_(objective), phi(largest(rows)) {
    build(labels, rows.n - fixed);
  }

  const std::size_t k, column_step, cluster_step;

 private:
  const Rows<Count>& rows_;
  const Objective objective_;

 public:
  const Phi<Count> phi;
  std::vector<Count> table, total;       // T, and total[view][c]
  std::vector<double> squares, kept;     // sum_y T^2, [view][c], and it over the total
  std::vector<double> cells, sums;       // per view: sum phi(T), sum phi(total); followed under Normalized only
  std::vector<double> amount;            // per view: N
  std::vector<std::int64_t> members;     // rows of each cluster
  std::vector<double> load;              // weight of each cluster
  double mean_entry = 1;
  Watcher<Count>* watcher = nullptr;

  std::size_t cell(std::size_t y, std::size_t c) const { return y * column_step + c * cluster_step; }

  // The objective, without constants; exact at the start, and always under Normalized and Quadratic.
  double value() const {
    double sum = 0;
    for (std::size_t v = 0; v < rows_.views; ++v) {
      if (objective_ == Objective::kNormalized) {
        sum += rows_.scale[v] * nmi(v, cells[v], sums[v]);
      } else if (objective_ == Objective::kShannon) {
        sum += rows_.scale[v] * (cells[v] - sums[v]);
      } else {
        for (std::size_t c = 0; c < k; ++c) sum += rows_.scale[v] * kept[v * k + c];
      }
    }
    return sum;
  }

  // NMI of the partition with view v from the sums of phi over cells and over cluster totals.
  double nmi(std::size_t v, double cell_sum, double total_sum) const {
    const double own = whole_[v] - total_sum, other = whole_[v] - offset_[v];
    const double none = 1e-9 * (1 + whole_[v]);
    if (own <= none || other <= none) return own <= none && other <= none ? 1.0 : 0.0;
    return std::max(0.0, cell_sum - total_sum - offset_[v] + whole_[v]) / std::sqrt(own * other);
  }

  // Takes a row out of a cluster, remembering what was there.
  void take(const Row<Count>& row, std::size_t i, std::size_t c) {
    old_cells_.resize(row.size);
    for (std::size_t e = 0; e < row.size; ++e) old_cells_[e] = table[cell(std::size_t(row.column[e]), c)];
    old_views_.clear();
    change(row, i, c, -1);
  }

  void put(const Row<Count>& row, std::size_t i, std::size_t c) { change(row, i, c, +1); }

  void move(const Row<Count>& row, std::size_t i, std::size_t from, std::size_t to) {
    take(row, i, from);
    put(row, i, to);
  }

  // A cell or total without an entry of its cluster; rounding may leave a real-valued one a hair below zero.
  static Count less(Count a, Count b) { return a > b ? a - b : Count(0); }

  // Whether one row is all that a cluster has of a view.
  bool single(std::size_t v, std::size_t c) const { return labeled_[v * k + c] == 1; }

  // Undoes take() without a trace of rounding.
  void put_back(const Row<Count>& row, std::size_t i, std::size_t c) {
    ++members[c];
    load[c] += double(rows_.weight[i]);
    for (std::size_t e = 0; e < row.size; ++e) set_cell(std::size_t(row.column[e]), c, old_cells_[e]);
    for (const View& old : old_views_) {
      const std::size_t v = old.view;
      cells[v] = old.cells, sums[v] = old.sums, squares[v * k + c] = old.squares;
      ++labeled_[v * k + c];
      set_total(v, c, old.total);
    }
  }

 private:
  static constexpr bool kReal = std::is_same<Count, double>::value;
  std::vector<double> whole_, offset_;   // per view: phi(N), and the sum of phi over column totals
  std::vector<std::int32_t> labeled_;   // rows of each cluster with entries in the view, [view][c]
  std::vector<std::size_t> first_;       // first column of each view, and the end

  struct View {
    std::size_t view;
    Count total;
    double squares, cells, sums;
  };
  std::vector<Count> old_cells_;
  std::vector<View> old_views_;

  // The largest sum of a view: no cell exceeds it.
  static double largest(const Rows<Count>& rows) {
    if (kReal) return 0;
    std::vector<double> sum(rows.views + 1, 0.0);
    RowReader<Count> reader(rows);
    for (std::size_t i = 0; i < rows.n; ++i) {
      const Row<Count> row = reader.read(i);
      for (std::size_t e = 0; e < row.size; ++e) sum[std::size_t(rows.view_of[row.column[e]])] += double(row.at(e));
    }
    return *std::max_element(sum.begin(), sum.end());
  }

  void build(const std::int32_t* labels, std::size_t own) {
    table.assign(rows_.columns * k, Count(0));
    total.assign(rows_.views * k, Count(0));
    labeled_.assign(rows_.views * k, 0);
    members.assign(k, 0);
    load.assign(k, 0.0);
    double entries = 0, sum = 0;
    RowReader<Count> reader(rows_);
    for (std::size_t i = 0; i < rows_.n; ++i) {
      const std::size_t c = std::size_t(labels[i]);
      ++members[c];
      load[c] += double(rows_.weight[i]);
      const Row<Count> row = reader.read(i);
      std::size_t last = rows_.views;
      for (std::size_t e = 0; e < row.size; ++e) {
        const std::size_t y = std::size_t(row.column[e]), v = std::size_t(rows_.view_of[y]);
        table[cell(y, c)] += row.at(e);
        total[v * k + c] += row.at(e);
        if (i < own) sum += double(row.at(e));
        labeled_[v * k + c] += v != last;
        last = v;
      }
      if (i < own) entries += double(row.size);
    }
    if (sum > 0) mean_entry = sum / entries;
    sum_up();
  }

  void sum_up() {
    cells.assign(rows_.views, 0.0);
    sums = amount = whole_ = offset_ = cells;
    first_.assign(rows_.views + 1, rows_.columns);
    for (std::size_t y = rows_.columns; y-- > 0;) first_[std::size_t(rows_.view_of[y])] = y;
    for (std::size_t v = rows_.views; v-- > 0;) first_[v] = std::min(first_[v], first_[v + 1]);
    squares.assign(rows_.views * k, 0.0);
    kept = squares;
    for (std::size_t y = 0; y < rows_.columns; ++y) {
      const std::size_t v = std::size_t(rows_.view_of[y]);
      Count column = 0;
      for (std::size_t c = 0; c < k; ++c) {
        const Count x = table[cell(y, c)];
        cells[v] += phi(x);
        squares[v * k + c] += double(x) * double(x);
        column += x;
      }
      offset_[v] += phi(column);
    }
    for (std::size_t v = 0; v < rows_.views; ++v) {
      Count all = 0;
      for (std::size_t c = 0; c < k; ++c) {
        const Count x = total[v * k + c];
        sums[v] += phi(x);
        all += x;
        kept[v * k + c] = x > 0 ? squares[v * k + c] / double(x) : 0.0;
      }
      amount[v] = double(all);
      whole_[v] = phi(all);
    }
  }

  void set_cell(std::size_t y, std::size_t c, Count x) {
    table[cell(y, c)] = x;
    if (watcher) watcher->set(y, c, x);
  }

  void set_total(std::size_t v, std::size_t c, Count x) {
    total[v * k + c] = x;
    kept[v * k + c] = x > 0 ? squares[v * k + c] / double(x) : 0.0;
    if (watcher) watcher->set(rows_.columns + v, c, x);
  }

  // Adds (sign +1) or removes (-1) a row; every sum follows.
  void change(const Row<Count>& row, std::size_t i, std::size_t c, int sign) {
    members[c] += sign;
    load[c] += sign * double(rows_.weight[i]);
    const bool with_cells = objective_ == Objective::kNormalized;
    std::size_t e = 0;
    while (e < row.size) {
      const std::size_t v = std::size_t(rows_.view_of[row.column[e]]);
      const Count before = total[v * k + c];
      if (sign < 0) old_views_.push_back({v, before, squares[v * k + c], cells[v], sums[v]});
      Count mass = 0;
      double rise = 0;
      for (; e < row.size && std::size_t(rows_.view_of[row.column[e]]) == v; ++e) {
        const std::size_t y = std::size_t(row.column[e]);
        const Count x = row.at(e), was = table[cell(y, c)];
        const Count now = sign > 0 ? was + x : less(was, x);
        set_cell(y, c, now);
        if (with_cells) cells[v] += sign * phi.rise(std::min(was, now), x);
        rise += double(now) * double(now) - double(was) * double(was);
        mass += x;
      }
      const Count after = sign > 0 ? before + mass : less(before, mass);
      if (with_cells) sums[v] += sign * phi.rise(std::min(before, after), mass);
      labeled_[v * k + c] += sign;
      if (labeled_[v * k + c] == 0)
        clear(v, c);
      else
        add_squares(v, c, rise);
      set_total(v, c, labeled_[v * k + c] == 0 ? Count(0) : after);
    }
  }

  // A cluster without rows in a view holds nothing of it; what rounding left there would be all there is.
  void clear(std::size_t v, std::size_t c) {
    for (std::size_t y = first_[v]; kReal && y < first_[v + 1]; ++y)
      if (table[cell(y, c)] != 0) set_cell(y, c, Count(0));
    squares[v * k + c] = 0;
  }

  // Where a heavy row leaves, the difference of squares has lost its digits: they are summed again.
  void add_squares(std::size_t v, std::size_t c, double rise) {
    double& sum = squares[v * k + c];
    const double was = sum;
    sum += rise;
    if (sum > 1e-4 * was || objective_ != Objective::kQuadratic) return;
    sum = 0;
    for (std::size_t y = first_[v]; y < first_[v + 1]; ++y) sum += double(table[cell(y, c)]) * double(table[cell(y, c)]);
  }
};

}  // namespace consilience
