// Logarithms of x + count and of Gamma(x + count) / Gamma(x) for a start x: what one more member with a label adds to the log of a
// Dirichlet-multinomial, and what all of them make.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace consilience {

// log Gamma(x), x > 0, by Stirling's series from 8 on. The library's writes to a global variable, and differs between systems.
inline double log_gamma(double x) {
  double below = 1;
  while (x < 8) below *= x, x += 1;
  const double y = 1 / x, z = y * y;
  const double rest = 1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360)))));
  return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + y * rest - std::log(below);
}

// Of some starts; those of small counts are kept.
class Rises {
 public:
  // The number of a start, which equal ones share.
  std::size_t add(double start) {
    const auto found = number_.emplace(start, starts_.size());
    if (found.second) starts_.push_back(start), logs_.emplace_back();
    return found.first->second;
  }

  double log(std::size_t number, std::int64_t count) {
    if (count >= kKept) return std::log(starts_[number] + double(count));
    std::vector<double>& logs = logs_[number];
    while (std::size_t(count) >= logs.size()) logs.push_back(std::log(starts_[number] + double(logs.size())));
    return logs[std::size_t(count)];
  }

  double log_rise(std::size_t number, std::int64_t count) const {
    return count ? log_gamma(starts_[number] + double(count)) - log_gamma(starts_[number]) : 0.0;
  }

 private:
  static constexpr std::int64_t kKept = 1 << 14;

  std::map<double, std::size_t> number_;
  std::vector<double> starts_;
  std::vector<std::vector<double>> logs_;
};

}  // namespace consilience
