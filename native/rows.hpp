// Objects' rows as the engine meets them: entries of a sparse table, or such entries summed by groups of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace consilience {

// The columns of all views are numbered through and view_of[column] says which view a column belongs to; a label is an
// entry whose value is the object's weight, and a missing label is not an entry. With groups, the stored columns are raw:
// view v sees raw column y as column group[v * raw + y], or not at all (-1), and a row is summed when it is read, so
// that the m tables of m clusterings of the columns are never held.
template <class Count>
struct Rows {
  std::size_t n, columns, views;
  const std::int64_t* start;     // n + 1
  const std::int32_t* column;    // of every entry
  const Count* value;            // of every entry; null: the weight of the row
  const Count* weight;           // of every row
  const std::int32_t* view_of;   // of every column
  const double* scale;           // s_v
  const std::int32_t* group = nullptr;
  std::size_t raw = 0;

  bool empty(std::size_t i) const { return start[i] == start[i + 1]; }
};

// One row: its entries, those of a view together.
template <class Count>
struct Row {
  const std::int32_t* column;
  const Count* value;  // null: every entry is `weight`
  Count weight;
  std::size_t size;

  Count at(std::size_t e) const { return value ? value[e] : weight; }
};

// Reads rows, each valid until the next.
template <class Count>
class RowReader {
 public:
  explicit RowReader(const Rows<Count>& rows) : rows_(rows), sum_(rows.group ? rows.columns : 0, Count(0)) {}

  Row<Count> read(std::size_t i) {
    const std::int64_t begin = rows_.start[i];
    const std::size_t size = std::size_t(rows_.start[i + 1] - begin);
    const std::int32_t* const column = rows_.column + begin;
    const Count* const value = rows_.value ? rows_.value + begin : nullptr;
    if (!rows_.group) return {column, value, rows_.weight[i], size};
    column_.clear();
    for (std::size_t v = 0; v < rows_.views; ++v) {
      const std::int32_t* const group = rows_.group + v * rows_.raw;
      for (std::size_t e = 0; e < size; ++e) {
        const std::int32_t g = group[column[e]];
        if (g < 0) continue;
        if (sum_[std::size_t(g)] == 0) column_.push_back(g);
        sum_[std::size_t(g)] += value ? value[e] : rows_.weight[i];
      }
    }
    value_.resize(column_.size());
    for (std::size_t e = 0; e < column_.size(); ++e) {
      value_[e] = sum_[std::size_t(column_[e])];
      sum_[std::size_t(column_[e])] = 0;
    }
    return {column_.data(), value_.data(), rows_.weight[i], column_.size()};
  }

 private:
  const Rows<Count>& rows_;
  std::vector<Count> sum_, value_;
  std::vector<std::int32_t> column_;
};

// The same rows; where one view sums them by groups, summed once rather than at every look: no more entries than there were. Those of
// several views stay as they are, since their sums would need as many times the room.
template <class Count>
class SummedRows {
 public:
  explicit SummedRows(const Rows<Count>& rows) : rows_(rows) {
    if (!rows.group || rows.views != 1) return;
    const std::size_t entries = std::size_t(rows.start[rows.n]);
    start_.reserve(rows.n + 1), column_.reserve(entries), value_.reserve(entries);
    start_.push_back(0);
    RowReader<Count> reader(rows);
    for (std::size_t i = 0; i < rows.n; ++i) {
      const Row<Count> row = reader.read(i);
      column_.insert(column_.end(), row.column, row.column + row.size);
      value_.insert(value_.end(), row.value, row.value + row.size);
      start_.push_back(std::int64_t(column_.size()));
    }
    rows_.start = start_.data(), rows_.column = column_.data(), rows_.value = value_.data();
    rows_.group = nullptr, rows_.raw = 0;
  }
  SummedRows(const SummedRows&) = delete;
  SummedRows& operator=(const SummedRows&) = delete;

  const Rows<Count>& rows() const { return rows_; }

 private:
  Rows<Count> rows_;
  std::vector<std::int64_t> start_;
  std::vector<std::int32_t> column_;
  std::vector<Count> value_;
};

}  // namespace consilience
