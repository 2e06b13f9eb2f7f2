// Candidate clusters by linear scores: multiply-add with a table of logarithms kept up to date.
//
// score(row, c) = sum over the row's entries of coefficient * log(table[line][c]), to first order what the row adds to
// the information in cluster c. The table is stored in tiles of clusters, so that a block of rows reads each tile from
// near memory, and the sums of a tile stay in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "vectors.hpp"

namespace consilience {

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
    if (has_avx2()) return best_avx2(rows, wanted, chosen);
    best_with(rows, wanted, chosen);
  }

 private:
  std::size_t lines_ = 0, clusters_ = 0;
  std::vector<float> logs_;

  CONSILIENCE_AVX2 void best_avx2(const Block& rows, std::size_t wanted, std::int32_t* chosen) const {
    best_with(rows, wanted, chosen);
  }

  CONSILIENCE_INLINE void best_with(const Block& rows, std::size_t wanted, std::int32_t* chosen) const {
    std::vector<float> top(rows.size() * wanted, -std::numeric_limits<float>::infinity());
    std::fill(chosen, chosen + rows.size() * wanted, 0);
    for (std::size_t first = 0; first < clusters_; first += kWidth) {
      const float* const tile = logs_.data() + first * lines_;
      const std::size_t width = std::min(kWidth, clusters_ - first);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        float sum[kWidth];
        add_up(rows, r, tile, sum);
        keep_best(sum, width, first, wanted, top.data() + r * wanted, chosen + r * wanted);
      }
    }
  }

  static CONSILIENCE_INLINE void add_up(const Block& rows, std::size_t r, const float* tile, float* sum) {
    Floats8 a{}, b{}, c{}, d{}, f{}, g{}, h{}, i{};  // by name, so that they stay in registers
    for (std::size_t e = rows.start[r]; e < rows.start[r + 1]; ++e) {
      const float x = rows.coefficient[e];
      const float* const log = tile + std::size_t(rows.line[e]) * kWidth;
      add_scaled(a, x, log), add_scaled(b, x, log + 8), add_scaled(c, x, log + 16), add_scaled(d, x, log + 24);
      add_scaled(f, x, log + 32), add_scaled(g, x, log + 40), add_scaled(h, x, log + 48), add_scaled(i, x, log + 56);
    }
    const Floats8 all[] = {a, b, c, d, f, g, h, i};
    std::memcpy(sum, all, sizeof all);
  }

  // Most tiles hold nothing better than what is kept: one comparison with their largest settles them.
  static CONSILIENCE_INLINE void keep_best(const float* sum, std::size_t width, std::size_t first, std::size_t wanted,
                                           float* top, std::int32_t* chosen) {
    float largest = sum[0];
    for (std::size_t t = 0; t < width; ++t) largest = sum[t] > largest ? sum[t] : largest;
    if (!(largest > top[wanted - 1])) return;
    for (std::size_t t = 0; t < width; ++t) {
      if (!(sum[t] > top[wanted - 1])) continue;
      std::size_t at = wanted - 1;
      for (; at > 0 && sum[t] > top[at - 1]; --at) top[at] = top[at - 1], chosen[at] = chosen[at - 1];
      top[at] = sum[t], chosen[at] = std::int32_t(first + t);
    }
  }
};

}  // namespace consilience
