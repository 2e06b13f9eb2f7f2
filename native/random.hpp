// Counter-based random streams, keyed by seed and unit: any unit's numbers can be reproduced alone.
#pragma once

#include <array>
#include <cstdint>

namespace consilience {

// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): ten rounds of multiply and mix over a 128-bit counter.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(0xD2511F53u) * counter[0];
    const std::uint64_t b = std::uint64_t(0xCD9E8D57u) * counter[2];
    counter = {std::uint32_t(b >> 32) ^ counter[1] ^ key[0], std::uint32_t(b),
               std::uint32_t(a >> 32) ^ counter[3] ^ key[1], std::uint32_t(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

// The stream of one unit (a clustering, a chain, a restart): the key is the seed, the counter (block, unit).
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t unit) : seed_(seed), unit_(unit) {}

  std::uint64_t bits() {
    if (used_ == 2) {
      const auto x = philox({std::uint32_t(block_), std::uint32_t(block_ >> 32), std::uint32_t(unit_),
                             std::uint32_t(unit_ >> 32)},
                            {std::uint32_t(seed_), std::uint32_t(seed_ >> 32)});
      ++block_;
      ready_[0] = x[0] | std::uint64_t(x[1]) << 32;
      ready_[1] = x[2] | std::uint64_t(x[3]) << 32;
      used_ = 0;
    }
    return ready_[used_++];
  }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return double(bits() >> 11) * 0x1.0p-53; }

  // Unbiased in [0, n), n >= 1: draws that would favor the small numbers are thrown away.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t reject = (0 - n) % n;  // 2^64 mod n
    std::uint64_t x;
    do x = bits();
    while (x < reject);
    return x % n;
  }

  // Fisher-Yates.
  template <class T>
  void shuffle(T* items, std::uint64_t n) {
    for (std::uint64_t i = n; i > 1; --i) {
      const std::uint64_t j = below(i);
      const T kept = items[i - 1];
      items[i - 1] = items[j];
      items[j] = kept;
    }
  }

 private:
  std::uint64_t seed_, unit_, block_ = 0;
  std::uint64_t ready_[2] = {0, 0};
  int used_ = 2;
};

}  // namespace consilience
