// Objects' rows as the engine meets them: entries of a sparse table, or such entries summed by groups of columns.
#pragma once

#include <algorithm>
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
  explicit RowReader(const Rows<Count>& rows) : rows_(rows), sum_(rows.group ? rows.columns + 1 : 0, Count(0)) {
    if (rows.group) sum_[0] = Count(1);
  }

  Row<Count> read(std::size_t i) {
    const std::int64_t begin = rows_.start[i];
    const std::size_t size = std::size_t(rows_.start[i + 1] - begin);
    const std::int32_t* const column = rows_.column + begin;
    const Count* const value = rows_.value ? rows_.value + begin : nullptr;
    if (!rows_.group) return {column, value, rows_.weight[i], size};
    if (column_.size() < rows_.views * size + 1) column_.resize(rows_.views * size + 1), value_.resize(column_.size());
    const std::size_t found = sum_up(column, value, rows_.weight[i], size);
    return {column_.data(), value_.data(), rows_.weight[i], found};
  }

 private:
  const Rows<Count>& rows_;
  std::vector<Count> sum_, value_;  // sum_[g + 1] of group g; what belongs to none (-1) goes where it is never seen
  std::vector<std::int32_t> column_;

  // Whether an entry is the first of its group is chance: no branch asks for it.
  std::size_t sum_up(const std::int32_t* column, const Count* value, Count weight, std::size_t size) {
    Count* const sum = sum_.data() + 1;
    std::int32_t* const first = column_.data();
    std::size_t found = 0;
    for (std::size_t v = 0; v < rows_.views; ++v) {
      const std::int32_t* const group = rows_.group + v * rows_.raw;
      for (std::size_t e = 0; e < size; ++e) {
        const std::int32_t g = group[column[e]];
        const Count before = sum[g];
        first[found] = g;
        found += before == 0;
        sum[g] = before + (value ? value[e] : weight);
      }
    }
    for (std::size_t e = 0; e < found; ++e) {
      value_[e] = sum[first[e]];
      sum[first[e]] = 0;
    }
    sum[-1] = Count(1);
    return found;
  }
};

// Rows summed by their groups, once rather than at every look: of one view there are no more entries than there were, and that is the room
// to be given. Returns how many there are.
template <class Count>
std::size_t sum_rows(const Rows<Count>& rows, std::int64_t* start, std::int32_t* column, Count* value) {
  RowReader<Count> reader(rows);
  std::size_t entries = 0;
  start[0] = 0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const Row<Count> row = reader.read(i);
    std::copy(row.column, row.column + row.size, column + entries);
    std::copy(row.value, row.value + row.size, value + entries);
    start[i + 1] = std::int64_t(entries += row.size);
  }
  return entries;
}

}  // namespace consilience
