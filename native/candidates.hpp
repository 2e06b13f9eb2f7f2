// Which clusters deserve an exact look: cheap scores of all clusters in single precision.
//
// NearScores: what an entry x adds to a cell T is phi(T + x) - phi(T) = x (1 + the mean of log over [T, T + x]), and that mean is
// log(T^2 + b T x + x^2 / e^2) / 2 with b = 1.03 to .035 at the worst, a small T beside x, exactly at T = 0, and to a few
// thousandths from T = x on: one logarithm a cell and no division.
//
// LogTiles: score(row, c) = sum over the row's entries of coefficient * log(table[line][c]), to first order what the row adds to
// the information in cluster c, by multiply-add with a table of logarithms kept up to date. The table is stored in tiles of
// clusters, so that a block of rows reads each tile from near memory, and the sums of a tile stay in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

class NearScores {
 public:
  static constexpr float kError = 0.05f;  // of a row's mass: clusters this close to the best are looked at exactly

  NearScores() = default;
  NearScores(std::size_t lines, std::size_t clusters)
      : padded_((clusters + 7) / 8 * 8), table_(lines * padded_, 0.0f), scores_(padded_, 0.0f) {}

  // A line is a column's cells, or a view's totals.
  float& at(std::size_t line, std::size_t cluster) { return table_[line * padded_ + cluster]; }
  float* scores() { return scores_.data(); }

  void clear() { entries_.clear(); }
  void add(std::size_t line, float x, float weight) {
    entries_.push_back({std::uint32_t(line), x, weight});
#if defined(__GNUC__)
    __builtin_prefetch(table_.data() + line * padded_);
    __builtin_prefetch(table_.data() + line * padded_ + 16);
#endif
  }

  // scores[c] = sum over the entries of weight * (mean log over [T, T + x] in cluster c); in `own`, over [T - x, T].
  void score(std::size_t own) {
    on_widest([this](auto) CONSILIENCE_LAMBDA { score_all(); });
    float sum = 0;
    for (const Entry& entry : entries_) {
      const float below = at(entry.line, own) - entry.x;
      sum += entry.weight * mean_log(below > 0 ? below : 0.0f, entry.x);
    }
    scores_[own] = sum;
  }

 private:
  struct Entry {
    std::uint32_t line;
    float x, weight;
  };
  std::size_t padded_ = 0;
  std::vector<float> table_, scores_;
  std::vector<Entry> entries_;

  static CONSILIENCE_INLINE float mean_log(float t, float x) {
    return 0.5f * fast_log_float(t * t + 1.03f * t * x + x * x * 0.13533528f);
  }

  CONSILIENCE_INLINE void score_all() {
    float* const sum = scores_.data();
    const std::size_t width = padded_, count = entries_.size();
    for (std::size_t c = 0; c < width; ++c) sum[c] = 0;
    for (std::size_t e = 0; e < count; ++e) {
      const float x = entries_[e].x, weight = 0.5f * entries_[e].weight, slope = 1.03f * x, square = x * x * 0.13533528f;
      const float* const t = table_.data() + entries_[e].line * width;
      for (std::size_t c = 0; c < width; ++c) sum[c] += weight * fast_log_float(t[c] * (t[c] + slope) + square);
    }
  }
};

class LogTiles {
 public:
  static constexpr std::size_t kWidth = 64;  // clusters of a tile

  LogTiles() = default;
  LogTiles(std::size_t lines, std::size_t clusters)
      : lines_(lines), clusters_(clusters), logs_((clusters + kWidth - 1) / kWidth * kWidth * lines, 0.0f) {}

  float& at(std::size_t line, std::size_t cluster) {
    return logs_[(cluster / kWidth * lines_ + line) * kWidth + cluster % kWidth];
  }

  // The entries of some rows: row r has those from start[r] to start[r + 1].
  struct Block {
    std::vector<std::size_t> start{0};
    std::vector<std::int32_t> line;
    std::vector<float> coefficient;

    void clear() { start.assign(1, 0), line.clear(), coefficient.clear(); }
    void add(std::size_t l, float x) { line.push_back(std::int32_t(l)), coefficient.push_back(x); }
    void end_row() { start.push_back(line.size()); }
    std::size_t size() const { return start.size() - 1; }
  };

  // The `wanted` best clusters of every row, best first, ties by number; fewer than that are not there to choose from.
  void best(const Block& rows, std::size_t wanted, std::int32_t* chosen) const {
    on_widest([&](auto) CONSILIENCE_LAMBDA { find_best(rows, wanted, chosen); });
  }

 private:
  std::size_t lines_ = 0, clusters_ = 0;
  std::vector<float> logs_;

  CONSILIENCE_INLINE void find_best(const Block& rows, std::size_t wanted, std::int32_t* chosen) const {
    std::vector<float> top(rows.size() * wanted, -std::numeric_limits<float>::infinity());
    std::fill(chosen, chosen + rows.size() * wanted, 0);
    for (std::size_t first = 0; first < clusters_; first += kWidth) {
      const float* const tile = logs_.data() + first * lines_;
      const std::size_t width = std::min(kWidth, clusters_ - first);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        float sum[kWidth];
        // Most tiles hold nothing better than what is kept: one comparison with their largest settles them.
        if (add_up(rows, r, tile, sum) > top[(r + 1) * wanted - 1])
          keep_best(sum, width, first, wanted, top.data() + r * wanted, chosen + r * wanted);
      }
    }
  }

  // The scores of a tile's clusters; returns the largest, or 0 where a tile that is not full has none above.
  static CONSILIENCE_INLINE float add_up(const Block& rows, std::size_t r, const float* tile, float* sum) {
    Floats8 a{}, b{}, c{}, d{}, f{}, g{}, h{}, i{};  // by name, so that they stay in registers
    for (std::size_t e = rows.start[r]; e < rows.start[r + 1]; ++e) {
      const float x = rows.coefficient[e];
      const float* const log = tile + std::size_t(rows.line[e]) * kWidth;
      add(a, x, log), add(b, x, log + 8), add(c, x, log + 16), add(d, x, log + 24);
      add(f, x, log + 32), add(g, x, log + 40), add(h, x, log + 48), add(i, x, log + 56);
    }
    const Floats8 all[] = {a, b, c, d, f, g, h, i};
    std::memcpy(sum, all, sizeof all);
    take_larger(a, b), take_larger(c, d), take_larger(f, g), take_larger(h, i);
    take_larger(a, c), take_larger(f, h), take_larger(a, f);
    float lane[8], largest = -std::numeric_limits<float>::infinity();
    std::memcpy(lane, &a, sizeof a);
    for (float x : lane) largest = x > largest ? x : largest;
    return largest;
  }

  static CONSILIENCE_INLINE void add(Floats8& sum, float scale, const float* x) {
    Floats8 y;
    load(y, x);
    add_scaled(sum, scale, y);
  }

  static CONSILIENCE_INLINE void keep_best(const float* sum, std::size_t width, std::size_t first, std::size_t wanted,
                                           float* top, std::int32_t* chosen) {
    for (std::size_t t = 0; t < width; ++t) {
      if (!(sum[t] > top[wanted - 1])) continue;
      std::size_t at = wanted - 1;
      for (; at > 0 && sum[t] > top[at - 1]; --at) top[at] = top[at - 1], chosen[at] = chosen[at - 1];
      top[at] = sum[t], chosen[at] = std::int32_t(first + t);
    }
  }
};

}  // namespace consilience
