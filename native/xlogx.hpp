// phi(x) = x log x of whole numbers, and its differences, from a table; by log above the table's end.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace consilience {

class XLogX {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t(1) << 20;  // 8 MB: beyond, the table would miss the cache

  // A table for 0 .. min(largest, limit).
  explicit XLogX(std::uint64_t largest, std::uint64_t limit = kLimit)
      : table_(std::size_t((largest < limit ? largest : limit) + 1)) {
    for (std::size_t x = 0; x < table_.size(); ++x) table_[x] = compute(x);
  }

  double operator()(std::uint64_t x) const { return x < table_.size() ? table_[std::size_t(x)] : compute(x); }

  // phi(x + d) - phi(x); for large x the two terms nearly cancel, so it is written with log1p there.
  double rise(std::uint64_t x, std::uint64_t d = 1) const {
    if (x < table_.size() && d < table_.size() - x) return table_[std::size_t(x + d)] - table_[std::size_t(x)];
    if (x == 0) return compute(d);
    const double a = double(x), b = double(d);
    return a * std::log1p(b / a) + b * std::log(a + b);
  }

  std::size_t size() const { return table_.size(); }
  const double* data() const { return table_.data(); }

 private:
  static double compute(std::uint64_t x) { return x < 2 ? 0.0 : double(x) * std::log(double(x)); }

  std::vector<double> table_;
};

// A table for at least 0 .. min(largest, kLimit), made once and shared by all who ask for no more.
inline std::shared_ptr<const XLogX> shared_xlogx(std::uint64_t largest) {
  static std::mutex guard;
  static std::shared_ptr<const XLogX> table;
  std::lock_guard<std::mutex> lock(guard);
  const std::uint64_t needed = (largest < XLogX::kLimit ? largest : XLogX::kLimit) + 1;
  if (!table || table->size() < needed) table = std::make_shared<const XLogX>(largest);
  return table;
}

}  // namespace consilience
