// Equal rows of labels, collapsed: every object's signature by hashing, exact by comparing the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "colors.hpp"

namespace consilience {

class Signatures {
 public:
  std::vector<std::int64_t> first;  // the object that showed each signature first
  std::vector<std::int64_t> count;  // how many objects have it

  // inverse[i] = signature of object i; signatures are numbered in the order of their first object.
  void collapse(const std::int32_t* labels, std::size_t n, std::size_t m, std::int64_t* inverse) {
    if (n >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("too many objects");
    slots_.assign(1024, Slot{});
    constexpr std::size_t kBatch = 32;  // look-ups in flight at once, so that waiting for memory overlaps
    std::uint64_t hash[kBatch];
    for (std::size_t begin = 0; begin < n; begin += kBatch) {
      const std::size_t size = n - begin < kBatch ? n - begin : kBatch;
      if ((first.size() + kBatch) * 2 > slots_.size()) grow();
      for (std::size_t t = 0; t < size; ++t) {
        hash[t] = hash_row(labels + (begin + t) * m, m);
        prefetch(&slots_[hash[t] & (slots_.size() - 1)]);
      }
      for (std::size_t t = 0; t < size; ++t) inverse[begin + t] = find(labels, m, begin + t, hash[t]);
    }
  }

 private:
  struct Slot {
    std::uint32_t signature = std::numeric_limits<std::uint32_t>::max();  // free
    std::uint32_t tag = 0;                                                // upper half of the hash
    bool free() const { return signature == std::numeric_limits<std::uint32_t>::max(); }
  };
  std::vector<Slot> slots_;  // open addressing; the size is a power of two, at most half full
  std::vector<std::uint64_t> hashes_;

  static void prefetch(const void* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
  }

  static std::uint64_t hash_row(const std::int32_t* row, std::size_t m) {
    std::uint64_t h = 0x9E3779B97F4A7C15u;
    for (std::size_t j = 0; j < m; ++j) h = (h ^ std::uint32_t(row[j])) * 0x9FB21C651E98DF25u + (h >> 29);
    return mix(h);
  }

  std::int64_t find(const std::int32_t* labels, std::size_t m, std::size_t object, std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = std::uint32_t(hash >> 32);
    const std::int32_t* row = labels + object * m;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.free()) {
        slot.signature = std::uint32_t(first.size());
        slot.tag = tag;
        first.push_back(std::int64_t(object));
        count.push_back(1);
        hashes_.push_back(hash);
        return slot.signature;
      }
      if (slot.tag == tag && std::memcmp(labels + std::size_t(first[slot.signature]) * m, row, m * sizeof *row) == 0) {
        ++count[slot.signature];
        return slot.signature;
      }
    }
  }

  void grow() {
    std::vector<Slot> larger(slots_.size() * 4);
    const std::size_t mask = larger.size() - 1;
    for (std::size_t s = 0; s < hashes_.size(); ++s) {
      std::size_t at = hashes_[s] & mask;
      while (!larger[at].free()) at = (at + 1) & mask;
      larger[at].signature = std::uint32_t(s);
      larger[at].tag = std::uint32_t(hashes_[s] >> 32);
    }
    slots_.swap(larger);
  }
};

}  // namespace consilience
