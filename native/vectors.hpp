// Wider vectors where the machine has them, at one place: on_widest(f, x…) calls f(Wide{}, x…) compiled for AVX2 where the machine
// has it, and f(Narrow{}, x…) otherwise. Once a row f may capture what it needs; what is called more often takes arguments, which stay in
// registers. f is a lambda marked CONSILIENCE_LAMBDA, and what it calls is marked CONSILIENCE_INLINE, so that all of it is compiled for the
// wider machine; nothing else is. Every lane is computed alone and sums are added in a fixed order:
// both give the same labels and, to rounding, the same numbers.
#pragma once

#include <cstdint>
#include <cstring>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(CONSILIENCE_PORTABLE)
#define CONSILIENCE_HAS_AVX2 1
#endif

#if defined(_MSC_VER)
#define CONSILIENCE_INLINE __forceinline
#define CONSILIENCE_LAMBDA
#else
#define CONSILIENCE_INLINE inline __attribute__((always_inline))
#define CONSILIENCE_LAMBDA __attribute__((always_inline))
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

// Numbers side by side, and the few operations on them that kernels need.
#if defined(__GNUC__)
typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));
typedef std::uint8_t Bytes32 __attribute__((vector_size(32)));
typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef std::int32_t Ints4 __attribute__((vector_size(16)));
typedef std::int32_t Ints8 __attribute__((vector_size(32)));

// count += 1 in every lane where x equals y (a true comparison is all ones, i.e. -1).
template <class Bytes>
CONSILIENCE_INLINE void add_where_equal(Bytes& count, const Bytes& x, std::uint8_t y) {
  count -= (Bytes)(x == y);
}
CONSILIENCE_INLINE void broadcast(Floats4& x, const float* y) { x = Floats4{*y, *y, *y, *y}; }
#if defined(__clang__)
CONSILIENCE_INLINE void broadcast(Floats8& x, const float* y) { x = Floats8{*y, *y, *y, *y, *y, *y, *y, *y}; }
#elif defined(CONSILIENCE_HAS_AVX2)
// As an instruction, which Clang refuses outside a function for AVX2: in a body that is inlined into one, GCC has taken {y, y, ...}
// apart too early.
CONSILIENCE_INLINE void broadcast(Floats8& x, const float* y) { __asm__("vbroadcastss %1, %0" : "=x"(x) : "m"(*y)); }
#endif
template <class Floats>
CONSILIENCE_INLINE void add_scaled(Floats& sum, float scale, const Floats& x) {
  sum += scale * x;
}
// x = y where it is smaller; the lanes where it was, as all ones.
template <class Floats, class Ints>
CONSILIENCE_INLINE void take_smaller(Floats& x, const Floats& y, Ints& smaller) {
  smaller = y < x;
  x = smaller ? y : x;
}
template <class Floats>
CONSILIENCE_INLINE void take_larger(Floats& x, const Floats& y) {
  x = y < x ? x : y;
}
template <class Ints>
CONSILIENCE_INLINE void put_where(Ints& x, const Ints& where, const Ints& y) {
  x = where ? y : x;
}
#else
template <class T, int W>
struct Lanes {
  T lane[W];
};
using Bytes16 = Lanes<std::uint8_t, 16>;
using Bytes32 = Lanes<std::uint8_t, 32>;
using Floats4 = Lanes<float, 4>;
using Floats8 = Lanes<float, 8>;
using Ints4 = Lanes<std::int32_t, 4>;
using Ints8 = Lanes<std::int32_t, 8>;

#define CONSILIENCE_LANEWISE(op)                                                            \
  template <class T, int W>                                                                 \
  CONSILIENCE_INLINE Lanes<T, W> operator op(Lanes<T, W> x, const Lanes<T, W>& y) {         \
    for (int i = 0; i < W; ++i) x.lane[i] = T(x.lane[i] op y.lane[i]);                      \
    return x;                                                                               \
  }
CONSILIENCE_LANEWISE(+)
CONSILIENCE_LANEWISE(-)
CONSILIENCE_LANEWISE(*)
#undef CONSILIENCE_LANEWISE

template <int W>
CONSILIENCE_INLINE void add_where_equal(Lanes<std::uint8_t, W>& count, const Lanes<std::uint8_t, W>& x, std::uint8_t y) {
  for (int i = 0; i < W; ++i) count.lane[i] = std::uint8_t(count.lane[i] + (x.lane[i] == y));
}
template <int W>
CONSILIENCE_INLINE void broadcast(Lanes<float, W>& x, const float* y) {
  for (int i = 0; i < W; ++i) x.lane[i] = *y;
}
template <int W>
CONSILIENCE_INLINE void add_scaled(Lanes<float, W>& sum, float scale, const Lanes<float, W>& x) {
  for (int i = 0; i < W; ++i) sum.lane[i] += scale * x.lane[i];
}
template <int W>
CONSILIENCE_INLINE void take_smaller(Lanes<float, W>& x, const Lanes<float, W>& y, Lanes<std::int32_t, W>& smaller) {
  for (int i = 0; i < W; ++i) smaller.lane[i] = -std::int32_t(y.lane[i] < x.lane[i]);
  for (int i = 0; i < W; ++i) x.lane[i] = y.lane[i] < x.lane[i] ? y.lane[i] : x.lane[i];
}
template <int W>
CONSILIENCE_INLINE void take_larger(Lanes<float, W>& x, const Lanes<float, W>& y) {
  for (int i = 0; i < W; ++i) x.lane[i] = y.lane[i] < x.lane[i] ? x.lane[i] : y.lane[i];
}
template <int W>
CONSILIENCE_INLINE void put_where(Lanes<std::int32_t, W>& x, const Lanes<std::int32_t, W>& where, const Lanes<std::int32_t, W>& y) {
  for (int i = 0; i < W; ++i) x.lane[i] = where.lane[i] ? y.lane[i] : x.lane[i];
}
#endif

// Memory need not be aligned.
template <class Vector, class T>
CONSILIENCE_INLINE void load(Vector& x, const T* from) {
  std::memcpy(&x, from, sizeof x);
}
template <class Vector, class T>
CONSILIENCE_INLINE void store(T* to, const Vector& x) {
  std::memcpy(to, &x, sizeof x);
}

struct Narrow {
  using Bytes = Bytes16;
  using Floats = Floats4;
  using Ints = Ints4;
};
struct Wide {
  using Bytes = Bytes32;
  using Floats = Floats8;
  using Ints = Ints8;
};

#if defined(CONSILIENCE_HAS_AVX2)
template <class F, class... A>
__attribute__((target("avx2"), noinline)) auto on_avx2(F f, A... arguments) {
  return f(Wide{}, arguments...);
}
template <class F, class... A>
CONSILIENCE_INLINE auto on_widest(F f, A... arguments) {
  return has_avx2() ? on_avx2(f, arguments...) : f(Narrow{}, arguments...);
}
#else
template <class F, class... A>
CONSILIENCE_INLINE auto on_widest(F f, A... arguments) {
  return f(Narrow{}, arguments...);
}
#endif

}  // namespace consilience
