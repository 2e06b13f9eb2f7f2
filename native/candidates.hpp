// Which clusters deserve an exact look: cheap scores of all clusters in single precision.
//
// NearScores: what an entry x adds to a cell T is phi(T + x) - phi(T) = x (1 + the mean of log over [T, T + x]), and that mean is
// log(T^2 + b T x + x^2 / e^2) / 2 with b = 1.03 to -.034 … .003, worst for a small T beside x, exact at T = 0 and to a few
// thousandths from T = x on: one logarithm a cell and no division. It is a rough one, to .003 after the half: errors of two clusters
// differ by .042 at most, which is less than kError.
//
// LogTiles: score(row, c) = sum over the row's entries of coefficient * log(table[line][c]), to first order what the row adds to
// the information in cluster c, by multiply-add with a table of logarithms kept up to date. The table is stored in tiles of
// clusters, so that a block of rows reads each tile from near memory, and the sums of a tile stay in registers.
#pragma once

#include <algorithm>
#include <cmath>
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
      : clusters_(clusters), padded_((clusters + 7) / 8 * 8), table_(lines * padded_, 0.0f), scores_(padded_, 0.0f) {}

  // A line is a column's cells, or a view's totals.
  float& at(std::size_t line, std::size_t cluster) { return table_[line * padded_ + cluster]; }
  float* scores() { return scores_.data(); }

  void clear() { count_ = 0; }
  void add(std::size_t line, float x, float weight) {
    make_room(1);
    line_[count_] = std::uint32_t(line), x_[count_] = x, weight_[count_] = weight * kUnit;
    ++count_;
    fetch(line);
  }

  // Entries on lines of their own: values, times `unit`, that weigh `scale` times as much. Returns their sum.
  template <class Count>
  double add(const std::int32_t* lines, const Count* values, std::size_t count, double unit, double scale) {
    make_room(count);
    std::uint32_t* const line = line_.data() + count_;
    for (std::size_t e = 0; e < count; ++e) fetch(line[e] = std::uint32_t(lines[e]));
    float *const x = x_.data() + count_, *const weight = weight_.data() + count_;
    count_ += count;
    return on_widest([](auto, const Count* from, std::size_t n, double u, double s, float* __restrict xs,
                        float* __restrict ws) CONSILIENCE_LAMBDA {
      double part[4] = {};
      std::size_t e = 0;
      for (; e + 4 <= n; e += 4)
        for (std::size_t i = 0; i < 4; ++i) {
          const double value = double(from[e + i]);
          xs[e + i] = float(value * u), ws[e + i] = float(value * s), part[i] += value;
        }
      for (; e < n; ++e) xs[e] = float(double(from[e]) * u), ws[e] = float(double(from[e]) * s), part[0] += double(from[e]);
      return (part[0] + part[1]) + (part[2] + part[3]);
    }, values, count, unit, scale * double(kUnit), x, weight);
  }

  // The best of all scores.
  float largest() const { return largest_; }

  // scores[c] = sum over the entries of weight * (mean log over [T, T + x] in cluster c); in `own`, over [T - x, T].
  void score(std::size_t own) {
    std::size_t count = count_;
    for (; count % kTogether; ++count) line_[count] = 0, x_[count] = 1, weight_[count] = 0;
    for (std::size_t e = 0; e < count; ++e) {
      const float below = at(line_[e], own) - x_[e];
      below_[e] = below > 0 ? below : 0.0f;
    }
    on_widest([this, own, count](auto) CONSILIENCE_LAMBDA { score_all(own, count); });
  }

 private:
  static constexpr std::size_t kTogether = 8;  // entries
  static constexpr float kUnit = 0.5f * 0.6931472f / kRoughLog2Unit;
  std::size_t clusters_ = 0, padded_ = 0, count_ = 0;
  float largest_ = 0;
  std::vector<float> table_, scores_;
  std::vector<std::uint32_t> line_;  // of every entry, with what else is known of it
  std::vector<float> x_, weight_, below_;

  // For more entries, and the last to be scored together.
  void make_room(std::size_t more) {
    const std::size_t size = count_ + more + kTogether;
    if (size <= line_.size()) return;
    line_.resize(2 * size), x_.resize(2 * size), weight_.resize(2 * size), below_.resize(2 * size);
  }

  void fetch(std::size_t line) const {
#if defined(__GNUC__)
    __builtin_prefetch(table_.data() + line * padded_);
    __builtin_prefetch(table_.data() + line * padded_ + 16);
#else
    (void)line;
#endif
  }

  static CONSILIENCE_INLINE float rough(float t, float slope, float square) { return rough_log2(t * (t + slope) + square); }

  CONSILIENCE_INLINE void score_all(std::size_t own, std::size_t count) {
    const std::size_t width = padded_;
    float* const __restrict sum = scores_.data();
    const float* const table = table_.data();
    // What the rough logarithm has too much is the same for all clusters.
    float part[kTogether] = {}, weights[kTogether] = {};
    for (std::size_t e = 0; e < count; e += kTogether)
      for (std::size_t i = 0; i < kTogether; ++i) {
        const float x = x_[e + i], weight = weight_[e + i];
        part[i] += weight * rough(below_[e + i], kSlope * x, kSquare * x * x);
        weights[i] += weight;
      }
    float without = 0, extra = 0;
    for (std::size_t i = 0; i < kTogether; ++i) without += part[i], extra += weights[i];
    extra *= kRoughLog2Extra;
    for (std::size_t c = 0; c < width; ++c) sum[c] = -extra;
    // Four entries at a time: sums are read and written once for them.
    for (std::size_t e = 0; e < count; e += 4) {
      const float *const t = table + line_[e] * width, *const u = table + line_[e + 1] * width,
                  *const v = table + line_[e + 2] * width, *const w = table + line_[e + 3] * width;
      const float a = x_[e], b = x_[e + 1], c = x_[e + 2], d = x_[e + 3];
      const float wa = weight_[e], wb = weight_[e + 1], wc = weight_[e + 2], wd = weight_[e + 3];
      const float sa = kSlope * a, sb = kSlope * b, sc = kSlope * c, sd = kSlope * d;
      const float qa = kSquare * a * a, qb = kSquare * b * b, qc = kSquare * c * c, qd = kSquare * d * d;
      for (std::size_t i = 0; i < width; ++i)
        sum[i] += (wa * rough(t[i], sa, qa) + wb * rough(u[i], sb, qb)) + (wc * rough(v[i], sc, qc) + wd * rough(w[i], sd, qd));
    }
    sum[own] = without - extra;
    for (std::size_t c = clusters_; c < width; ++c) sum[c] = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < kTogether; ++i) part[i] = sum[i];
    for (std::size_t c = kTogether; c < width; c += kTogether)
      for (std::size_t i = 0; i < kTogether; ++i) part[i] = sum[c + i] > part[i] ? sum[c + i] : part[i];
    largest_ = part[0];
    for (std::size_t i = 1; i < kTogether; ++i) largest_ = part[i] > largest_ ? part[i] : largest_;
  }

  static constexpr float kSlope = 1.03f, kSquare = 0.13533528f;
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

  // The `wanted` best clusters of every row, best first, ties by number; fewer than that are not there to choose from. What is in `chosen`
  // before are as many different clusters that could be among them: none worse than the worst of these is kept for a while.
  void best(const Block& rows, std::size_t wanted, std::int32_t* chosen) const {
    on_widest([&](auto) CONSILIENCE_LAMBDA { find_best(rows, wanted, chosen); });
  }

 private:
  std::size_t lines_ = 0, clusters_ = 0;
  std::vector<float> logs_;

  CONSILIENCE_INLINE void find_best(const Block& rows, std::size_t wanted, std::int32_t* chosen) const {
    std::vector<float> top(rows.size() * wanted);
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::fill_n(top.data() + r * wanted, wanted, just_below(worst(rows, r, wanted, chosen + r * wanted)));
    for (std::size_t first = 0; first < clusters_; first += kWidth) {
      const float* const tile = logs_.data() + first * lines_;
      const std::size_t width = std::min(kWidth, clusters_ - first);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        float sum[kWidth], largest[8];
        add_up(rows, r, tile, sum, largest);
        keep_best(sum, largest, width, first, wanted, top.data() + r * wanted, chosen + r * wanted);
      }
    }
  }

  // The least score of some clusters, as the tiles have it.
  CONSILIENCE_INLINE float worst(const Block& rows, std::size_t r, std::size_t count, const std::int32_t* clusters) const {
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t c = std::size_t(clusters[t]);
      const float* const log = logs_.data() + c / kWidth * lines_ * kWidth + c % kWidth;
      float sum = 0;
      for (std::size_t e = rows.start[r]; e < rows.start[r + 1]; ++e) sum += rows.coefficient[e] * log[std::size_t(rows.line[e]) * kWidth];
      least = sum < least ? sum : least;
    }
    return least;
  }

  static float just_below(float x) { return std::nextafter(x, -std::numeric_limits<float>::infinity()); }

  // The scores of a tile's clusters, and the largest of every eighth.
  static CONSILIENCE_INLINE void add_up(const Block& rows, std::size_t r, const float* tile, float* sum, float* largest) {
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
    std::memcpy(largest, &a, sizeof a);
  }

  static CONSILIENCE_INLINE void add(Floats8& sum, float scale, const float* x) {
    Floats8 y;
    load(y, x);
    add_scaled(sum, scale, y);
  }

  // Most tiles hold nothing better than what is kept, and most eighths of the others: only the rest is looked at, in its order.
  static CONSILIENCE_INLINE void keep_best(const float* sum, const float* largest, std::size_t width, std::size_t first, std::size_t wanted,
                                           float* top, std::int32_t* chosen) {
    std::size_t lanes[8], count = 0;
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[count] = lane, count += largest[lane] > top[wanted - 1];
    if (!count) return;
    for (std::size_t begin = 0; begin < width; begin += 8)
      for (std::size_t l = 0; l < count; ++l) {
        const std::size_t t = begin + lanes[l];
        if (!(sum[t] > top[wanted - 1]) || t >= width) continue;
        std::size_t at = wanted - 1;
        for (; at > 0 && sum[t] > top[at - 1]; --at) top[at] = top[at - 1], chosen[at] = chosen[at - 1];
        top[at] = sum[t], chosen[at] = std::int32_t(first + t);
      }
  }
};

}  // namespace consilience
