// phi(x) = x log x and the logarithms behind it: of whole numbers from a table, of others by logarithms that compilers can
// vectorize, plain arithmetic on bits with the same result in every lane width.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "vectors.hpp"

namespace consilience {

// log x for positive normal x, to about two units in the last place.
// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), whose series in z = s^2 is
// replaced by the polynomial of degree 6 through its Chebyshev points (error below 2e-17 of the whole).
CONSILIENCE_INLINE double fast_log(double x) {
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCDu, kOne = 0x3FF0000000000000u, kTwo52 = 0x4330000000000000u;
  std::uint64_t bits;
  std::memcpy(&bits, &x, 8);
  const std::uint64_t exponent = (bits - kRootHalf + kOne) >> 52;  // e + 1023
  const std::uint64_t m_bits = bits - (exponent << 52) + kOne, e_bits = exponent | kTwo52;
  double m, e;
  std::memcpy(&m, &m_bits, 8);
  std::memcpy(&e, &e_bits, 8);
  e -= 0x1.0p52 + 1023;
  const double s = (m - 1) / (m + 1), z = s * s;
  const double tail =
      z * (0.3333333333333336 +
           z * (0.19999999999928156 +
                z * (0.14285714321691975 +
                     z * (0.11111104288528079 +
                          z * (0.09091529985176879 + z * (0.07663224219166552 + z * 0.07338753480037136))))));
  return e * 0.6931471805599453 + 2 * (s + s * tail);
}

// phi(x) = x log x for x >= 0; what is added is lost to rounding unless x is 0 or next to nothing. Without a comparison, which compilers
// turn into branches, and those keep loops from being vectorized.
CONSILIENCE_INLINE double fast_xlogx(double x) {
  constexpr double kTiny = 1e-300;
  return x * fast_log(x + kTiny);
}

// log x for positive normal x, to about 1e-6.
CONSILIENCE_INLINE float fast_log_float(float x) {
  std::int32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::int32_t e = (bits - 0x3F3504F3) >> 23;  // x / 2^e lies in [sqrt(1/2), sqrt(2))
  const std::int32_t m_bits = bits - e * 0x800000;
  float m;
  std::memcpy(&m, &m_bits, 4);
  const float f = m - 1;  // log(1 + f) / f through its Chebyshev points
  const float slope =
      1.000001072883606f +
      f * (-0.500008761882782f +
           f * (0.3331356346607208f +
                f * (-0.2492033690214157f + f * (0.2052544355392456f + f * (-0.18573839962482452f + f * 0.11657806485891342f)))));
  return float(e) * 0.6931472f + f * slope;
}

// kRoughLog2Unit log2 x + kRoughLog2Extra for positive normal x, to .0078 units: the bits of a float are its logarithm but for the
// mantissa m in [1, 2), where log2 m is nearly (m - 1) + .347 (m - 1) (2 - m).
constexpr float kRoughLog2Unit = 8388608.0f, kRoughLog2Extra = 2 * 0.347f * kRoughLog2Unit;
CONSILIENCE_INLINE float rough_log2(float x) {
  constexpr float kBend = 0.347f * kRoughLog2Unit;
  std::int32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::int32_t m_bits = (bits & 0x7FFFFF) | 0x3F800000;
  float m;
  std::memcpy(&m, &m_bits, 4);
  return float(bits - 0x3F800000) + m * (3 * kBend - kBend * m);
}

// phi of whole numbers, and its differences, from a table; by log above the table's end.
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

// phi of counts of either kind.
template <class Count>
struct Phi;
template <>
struct Phi<std::int64_t> {
  std::shared_ptr<const XLogX> table;
  explicit Phi(double largest) : table(shared_xlogx(std::uint64_t(largest))) {}
  double operator()(std::int64_t x) const { return (*table)(std::uint64_t(x)); }
  double rise(std::int64_t x, std::int64_t d) const { return table->rise(std::uint64_t(x), std::uint64_t(d)); }
};
template <>
struct Phi<double> {
  explicit Phi(double) {}
  CONSILIENCE_INLINE double operator()(double x) const { return fast_xlogx(x); }
  CONSILIENCE_INLINE double rise(double x, double d) const { return fast_xlogx(x + d) - fast_xlogx(x); }
};

}  // namespace consilience
