// phi(x) = x log x of counts: from the table where they are whole numbers, by a vectorised logarithm otherwise.
#pragma once

#include <cstdint>
#include <memory>

#include "quicklog.hpp"
#include "vectors.hpp"
#include "xlogx.hpp"

namespace consilience {

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
  CONSILIENCE_INLINE double operator()(double x) const { return quick_xlogx(x); }
  CONSILIENCE_INLINE double rise(double x, double d) const { return quick_xlogx(x + d) - quick_xlogx(x); }
};

}  // namespace consilience
