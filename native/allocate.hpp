// One partition close to many: items are put, one after the other, where they lower
//
//     sum over columns y of scale_y * sum over clusters c of f(T_yc),     f(x) = x log x or x^2,
//
// with T_yc the weight of cluster c in column y. A column is a cluster of a sample (scale below 0) or all that a sample labels (scale
// above 0), so that the sum is the expected variation of information, or Binder's loss, up to a constant (D. B. Dahl, D. J. Johnson
// and P. Muller 2022). Items without a cluster yet are put first when they are met; a new cluster is opened where that is best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

struct Items {
  std::size_t n, columns;
  const std::int64_t* start;   // n + 1: where the entries of every item begin
  const std::int32_t* column;  // of every entry
  const std::int32_t* value;   // of every entry, at least 1; null: the weight of the item
  const std::int32_t* weight;  // of every item
  const double* scale;         // of every column

  std::int32_t at(std::size_t i, std::int64_t e) const { return value ? value[e] : weight[i]; }
};

class Allocator {
 public:
  static constexpr double kLeast = 1e-12;  // a smaller gain is rounding

  // labels: 0 .. limit - 1, or -1 for an item that is not put yet. `total`: no cell ever exceeds it.
  Allocator(const Items& items, bool square, std::size_t limit, std::int64_t total, std::int32_t* labels)
      : items_(items), square_(square), limit_(limit), labels_(labels), phi_(square ? nullptr : shared_xlogx(std::uint64_t(total))),
        within_(phi_ && std::uint64_t(total) < phi_->size()) {
    std::int32_t top = -1;
    for (std::size_t i = 0; i < items.n; ++i) top = std::max(top, labels[i]);
    used_ = std::size_t(top + 1);
    make_room(std::min(limit_, std::max<std::size_t>(used_ + 8, 16)));
    for (std::size_t i = 0; i < items.n; ++i) {
      if (labels[i] < 0) continue;
      const std::size_t c = std::size_t(labels[i]);
      clusters_ += members_[c]++ == 0;
      for (std::int64_t e = items.start[i]; e < items.start[i + 1]; ++e) count(e, c) += items.at(i, e);
    }
    fill_rises();
  }

  // Visits the items in order, at most `passes` times, until none moves; returns the number of moves.
  std::int64_t run(const std::int64_t* order, std::size_t length, std::size_t passes) {
    std::int64_t all = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      std::int64_t moves = 0;
      for (std::size_t t = 0; t < length; ++t) moves += visit(std::size_t(order[t]));
      all += moves;
      if (moves == 0) break;
    }
    return all;
  }

  double value() const {
    double sum = 0;
    for (std::size_t y = 0; y < items_.columns; ++y) {
      double cells = 0;
      for (std::size_t c = 0; c < used_; ++c) cells += f(table_[y * width_ + c]);
      sum += items_.scale[y] * cells;
    }
    return sum;
  }

 private:
  const Items& items_;
  const bool square_;
  const std::size_t limit_;
  std::int32_t* const labels_;
  const std::shared_ptr<const XLogX> phi_;
  const bool within_;  // every cell is in the table of phi
  std::size_t used_ = 0, width_ = 0, clusters_ = 0;  // clusters beyond used_ are empty; clusters_ are not
  std::vector<std::int32_t> table_;                   // T, columns x width
  std::vector<double> rise_;                          // scale (f(T + 1) - f(T))
  std::vector<std::int64_t> members_;
  std::vector<double> cost_;

  std::int32_t& count(std::int64_t e, std::size_t c) { return table_[std::size_t(items_.column[e]) * width_ + c]; }

  double f(std::int64_t x) const { return square_ ? double(x) * double(x) : (*phi_)(std::uint64_t(x)); }
  double rise(std::int64_t x, std::int64_t d) const {
    if (within_) return phi_->data()[x + d] - phi_->data()[x];
    return square_ ? double(d) * double(2 * x + d) : phi_->rise(std::uint64_t(x), std::uint64_t(d));
  }

  void make_room(std::size_t width) {
    std::vector<std::int32_t> table(items_.columns * width, 0);
    for (std::size_t y = 0; y < items_.columns && width_; ++y)
      std::copy_n(table_.begin() + std::ptrdiff_t(y * width_), used_, table.begin() + std::ptrdiff_t(y * width));
    table_.swap(table);
    width_ = width;
    members_.resize(width_, 0);
    cost_.resize(width_);
  }

  void fill_rises() {
    rise_.resize(table_.size());
    for (std::size_t y = 0; y < items_.columns; ++y)
      for (std::size_t c = 0; c < width_; ++c) set_rise(y, c);
  }

  void set_rise(std::size_t y, std::size_t c) {
    rise_[y * width_ + c] = items_.scale[y] * rise(table_[y * width_ + c], 1);
  }

  // cost_[c]: what an item adds to the sum in cluster c, as if it were in none.
  CONSILIENCE_INLINE void score(std::size_t i) {
    double* const cost = cost_.data();
    const std::size_t used = used_;
    std::fill_n(cost, used, 0.0);
    for (std::int64_t e = items_.start[i]; e < items_.start[i + 1]; ++e) {
      const std::size_t y = std::size_t(items_.column[e]);
      const std::int32_t v = items_.at(i, e);
      const double* const rises = rise_.data() + y * width_;
      if (v == 1) {
        for (std::size_t c = 0; c < used; ++c) cost[c] += rises[c];
      } else if (square_) {  // (x + v)^2 - x^2 = v ((x + 1)^2 - x^2) + v (v - 1)
        const double by = double(v), rest = items_.scale[y] * by * (by - 1);
        for (std::size_t c = 0; c < used; ++c) cost[c] += by * rises[c] + rest;
      } else {
        const std::int32_t* const cell = table_.data() + y * width_;
        const double scale = items_.scale[y];
        if (within_) {
          const double* const phi = phi_->data();
          for (std::size_t c = 0; c < used; ++c) cost[c] += scale * (phi[cell[c] + v] - phi[cell[c]]);
        } else {
          for (std::size_t c = 0; c < used; ++c) cost[c] += scale * rise(cell[c], v);
        }
      }
    }
  }

  // What the item adds to the sum in a cluster of its own, and where it is.
  double alone(std::size_t i) const {
    double sum = 0;
    for (std::int64_t e = items_.start[i]; e < items_.start[i + 1]; ++e)
      sum += items_.scale[items_.column[e]] * f(items_.at(i, e));
    return sum;
  }
  double here(std::size_t i, std::size_t c) {
    double sum = 0;
    for (std::int64_t e = items_.start[i]; e < items_.start[i + 1]; ++e)
      sum += items_.scale[items_.column[e]] * rise(count(e, c) - items_.at(i, e), items_.at(i, e));
    return sum;
  }

  bool visit(std::size_t i) {
    const std::int32_t old = labels_[i];
    on_widest([](auto, Allocator* self, std::size_t item) CONSILIENCE_LAMBDA { self->score(item); }, this, i);
    double best = std::numeric_limits<double>::infinity();
    std::size_t where = limit_;
    if (old >= 0) best = here(i, std::size_t(old)) - kLeast;
    for (std::size_t c = 0; c < used_; ++c)
      if (members_[c] && std::int32_t(c) != old && cost_[c] < best) best = cost_[c], where = c;
    const bool lone = old >= 0 && members_[std::size_t(old)] == 1;
    if (!lone && clusters_ < limit_ && alone(i) < best - (where < limit_ ? kLeast : 0.0)) where = open();
    if (where == limit_) return false;
    if (old >= 0) change(i, std::size_t(old), -1);
    change(i, where, 1);
    labels_[i] = std::int32_t(where);
    return true;
  }

  std::size_t open() {
    std::size_t c = 0;
    while (c < used_ && members_[c]) ++c;
    if (c == width_) {
      make_room(std::min(limit_, 2 * width_));
      fill_rises();
    }
    used_ = std::max(used_, c + 1);
    return c;
  }

  void change(std::size_t i, std::size_t c, std::int32_t sign) {
    for (std::int64_t e = items_.start[i]; e < items_.start[i + 1]; ++e) {
      count(e, c) += sign * items_.at(i, e);
      set_rise(std::size_t(items_.column[e]), c);
    }
    members_[c] += sign;
    if (sign > 0 && members_[c] == 1) ++clusters_;
    if (members_[c] == 0) --clusters_;
  }
};

}  // namespace consilience
