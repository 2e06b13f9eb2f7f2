// Numbers side by side for k-means: W floats, W indices, and the few operations on them that it needs. Every lane is
// computed alone, so all widths give the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "vectors.hpp"

namespace consilience {

#if defined(__GNUC__)
typedef float Floats4 __attribute__((vector_size(16)));
typedef std::int32_t Ints4 __attribute__((vector_size(16)));

CONSILIENCE_INLINE void spread(Floats4& x, const float* y) { x = Floats4{*y, *y, *y, *y}; }

#if defined(CONSILIENCE_HAS_AVX2)
typedef float Floats8 __attribute__((vector_size(32)));
typedef std::int32_t Ints8 __attribute__((vector_size(32)));

// As an instruction: in a body that is inlined into an AVX2 wrapper, GCC has taken {y, y, ...} apart too early.
CONSILIENCE_INLINE void spread(Floats8& x, const float* y) { __asm__("vbroadcastss %1, %0" : "=x"(x) : "m"(*y)); }
#endif

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
template <class T>
struct Lanes4 {
  T lane[4];
};
template <class T>
CONSILIENCE_INLINE Lanes4<T> operator+(Lanes4<T> x, const Lanes4<T>& y) {
  for (int i = 0; i < 4; ++i) x.lane[i] += y.lane[i];
  return x;
}
template <class T>
CONSILIENCE_INLINE Lanes4<T> operator-(Lanes4<T> x, const Lanes4<T>& y) {
  for (int i = 0; i < 4; ++i) x.lane[i] -= y.lane[i];
  return x;
}
template <class T>
CONSILIENCE_INLINE Lanes4<T> operator*(Lanes4<T> x, const Lanes4<T>& y) {
  for (int i = 0; i < 4; ++i) x.lane[i] *= y.lane[i];
  return x;
}
using Floats4 = Lanes4<float>;
using Ints4 = Lanes4<std::int32_t>;

CONSILIENCE_INLINE void spread(Floats4& x, const float* y) { x = Floats4{{*y, *y, *y, *y}}; }
CONSILIENCE_INLINE void take_smaller(Floats4& x, const Floats4& y, Ints4& smaller) {
  for (int i = 0; i < 4; ++i) smaller.lane[i] = -std::int32_t(y.lane[i] < x.lane[i]);
  for (int i = 0; i < 4; ++i) x.lane[i] = y.lane[i] < x.lane[i] ? y.lane[i] : x.lane[i];
}
CONSILIENCE_INLINE void take_larger(Floats4& x, const Floats4& y) {
  for (int i = 0; i < 4; ++i) x.lane[i] = y.lane[i] < x.lane[i] ? x.lane[i] : y.lane[i];
}
CONSILIENCE_INLINE void put_where(Ints4& x, const Ints4& where, const Ints4& y) {
  for (int i = 0; i < 4; ++i) x.lane[i] = where.lane[i] ? y.lane[i] : x.lane[i];
}
#endif

template <class Lanes, class T>
CONSILIENCE_INLINE void load(Lanes& x, const T* from) {
  std::memcpy(&x, from, sizeof x);
}
template <class Lanes, class T>
CONSILIENCE_INLINE void store(T* to, const Lanes& x) {
  std::memcpy(to, &x, sizeof x);
}

}  // namespace consilience
