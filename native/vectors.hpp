// Wider vectors where the machine has them. A kernel's body is an always-inlined template; a thin wrapper compiled
// for AVX2 (CONSILIENCE_AVX2) and a portable one call it, and has_avx2() chooses when the program runs. Nothing else
// is built for a special machine, and both give the same labels and, to rounding, the same numbers.
#pragma once

#include <cstdint>
#include <cstring>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(CONSILIENCE_PORTABLE)
#define CONSILIENCE_AVX2 __attribute__((target("avx2")))
#define CONSILIENCE_HAS_AVX2 1
#else
#define CONSILIENCE_AVX2
#endif

#if defined(_MSC_VER)
#define CONSILIENCE_INLINE __forceinline
#else
#define CONSILIENCE_INLINE inline __attribute__((always_inline))
#endif

namespace consilience {

inline bool has_avx2() {
#if defined(CONSILIENCE_HAS_AVX2)
  static const bool yes = __builtin_cpu_supports("avx2");
  return yes;
#else
  return false;
#endif
}

// W bytes handled side by side.
#if defined(__GNUC__)
typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));
typedef std::uint8_t Bytes32 __attribute__((vector_size(32)));

// count += 1 in every lane where x equals y (a true comparison is all ones, i.e. -1).
template <class Bytes>
CONSILIENCE_INLINE void add_where_equal(Bytes& count, const Bytes& x, std::uint8_t y) {
  count -= (Bytes)(x == y);
}
#else
template <int W>
struct Lanes {
  std::uint8_t lane[W];
};
using Bytes16 = Lanes<16>;
using Bytes32 = Lanes<32>;

template <int W>
CONSILIENCE_INLINE void add_where_equal(Lanes<W>& count, const Lanes<W>& x, std::uint8_t y) {
  for (int i = 0; i < W; ++i) count.lane[i] = std::uint8_t(count.lane[i] + (x.lane[i] == y));
}
#endif

// Eight floats side by side.
#if defined(__GNUC__)
typedef float Floats8 __attribute__((vector_size(32), aligned(4)));
#else
struct Floats8 {
  float lane[8];
};
#endif

// sum += scale * x, lane by lane; memory need not be aligned.
CONSILIENCE_INLINE void add_scaled(Floats8& sum, float scale, const float* x) {
#if defined(__GNUC__)
  Floats8 y;
  std::memcpy(&y, x, sizeof y);
  sum += scale * y;
#else
  for (int i = 0; i < 8; ++i) sum.lane[i] += scale * x[i];
#endif
}

}  // namespace consilience
