// A natural logarithm that compilers can vectorise: plain arithmetic on bits, the same result in every lane width.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "vectors.hpp"

namespace consilience {

// log x for positive normal x, to about two units in the last place.
// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), whose series in z = s^2 is
// replaced by the polynomial of degree 6 through its Chebyshev points (error below 2e-17 of the whole).
CONSILIENCE_INLINE double quick_log(double x) {
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

// phi(x) = x log x for x >= 0 that is 0 or normal; what is smaller counts as 0.
CONSILIENCE_INLINE double quick_xlogx(double x) {
  constexpr double kTiny = 1e-300;
  return x * quick_log(x > kTiny ? x : kTiny);
}

}  // namespace consilience
