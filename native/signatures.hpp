// Equal rows of labels, collapsed: every object's signature by hashing, exact by comparing the rows. A row is so many bytes,
// whatever the width of its labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "colors.hpp"

namespace consilience {

constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();  // a slot that holds no row
constexpr std::size_t kInFlight = 32;  // look-ups at once, so that waiting for memory overlaps

inline std::uint64_t load_word(const std::uint8_t* at, std::size_t bytes = 8) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

// The last word of a row may overlap the one before it, so that none is loaded byte by byte.
inline std::uint64_t hash_row(const std::uint8_t* row, std::size_t width) {
  std::uint64_t h = 0x9E3779B97F4A7C15u;
  const auto add = [&h](std::uint64_t word) { h = (h ^ word) * 0x9FB21C651E98DF25u + (h >> 29); };
  if (width < 8) {
    add(load_word(row, width));
    return mix(h);
  }
  for (std::size_t j = 0; j + 8 <= width; j += 8) add(load_word(row + j));
  if (width % 8 != 0) add(load_word(row + width - 8));
  return mix(h);
}

inline bool equal_rows(const std::uint8_t* one, const std::uint8_t* other, std::size_t width) {
  if (width < 8) return std::memcmp(one, other, width) == 0;
  for (std::size_t j = 0; j + 8 <= width; j += 8)
    if (load_word(one + j) != load_word(other + j)) return false;
  return load_word(one + width - 8) == load_word(other + width - 8);
}

inline void prefetch(const void* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p);
#else
  (void)p;
#endif
}

class Signatures {
 public:
  std::vector<std::int64_t> first;  // the object that showed each signature first
  std::vector<std::int64_t> count;  // how many objects have it

  // inverse[i] = signature of object i; signatures are numbered in the order of their first object. Null where nobody asks.
  void collapse(const std::uint8_t* rows, std::size_t n, std::size_t width, std::int64_t* inverse) {
    if (n >= kFree) throw std::length_error("too many objects");
    slots_.assign(1024, Slot{});
    std::uint64_t hash[kInFlight];
    for (std::size_t begin = 0; begin < n; begin += kInFlight) {
      const std::size_t size = n - begin < kInFlight ? n - begin : kInFlight;
      if ((first.size() + kInFlight) * 2 > slots_.size()) grow();
      for (std::size_t t = 0; t < size; ++t) {
        hash[t] = hash_row(rows + (begin + t) * width, width);
        prefetch(&slots_[hash[t] & (slots_.size() - 1)]);
      }
      for (std::size_t t = 0; t < size; ++t) {
        const std::int64_t signature = find(rows, width, begin + t, hash[t]);
        if (inverse != nullptr) inverse[begin + t] = signature;
      }
    }
  }

 private:
  struct Slot {
    std::uint32_t signature = kFree;
    std::uint32_t tag = 0;  // upper half of the hash
    bool free() const { return signature == kFree; }
  };
  std::vector<Slot> slots_;  // open addressing; the size is a power of two, at most half full
  std::vector<std::uint64_t> hashes_;

  std::int64_t find(const std::uint8_t* rows, std::size_t width, std::size_t object, std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = std::uint32_t(hash >> 32);
    const std::uint8_t* row = rows + object * width;
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
      if (slot.tag == tag && equal_rows(rows + std::size_t(first[slot.signature]) * width, row, width)) {
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

// Where distinct rows are found again: the number of a row in the first free slot from its hash on. Of equal rows the first is found.
inline std::vector<std::uint32_t> slots_of(const std::uint8_t* rows, std::size_t n, std::size_t width) {
  if (n >= kFree) throw std::length_error("too many rows");
  std::size_t size = 16;
  while (size < 2 * n) size *= 2;
  std::vector<std::uint32_t> slots(size, kFree);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t at = hash_row(rows + i * width, width) & (size - 1);
    while (slots[at] != kFree) at = (at + 1) & (size - 1);
    slots[at] = std::uint32_t(i);
  }
  return slots;
}

// found[i] = the number among `rows` of wanted row i, -1 where it is none of them. `slots` is what slots_of makes of `rows`.
inline void find_rows(const std::uint8_t* rows, const std::uint32_t* slots, std::size_t n_slots, const std::uint8_t* wanted,
                      std::size_t n, std::size_t width, std::int64_t* found) {
  std::uint64_t hash[kInFlight];
  for (std::size_t begin = 0; begin < n; begin += kInFlight) {
    const std::size_t size = n - begin < kInFlight ? n - begin : kInFlight;
    for (std::size_t t = 0; t < size; ++t) {
      hash[t] = hash_row(wanted + (begin + t) * width, width);
      prefetch(&slots[hash[t] & (n_slots - 1)]);
    }
    for (std::size_t t = 0; t < size; ++t) {
      const std::uint8_t* row = wanted + (begin + t) * width;
      std::size_t at = hash[t] & (n_slots - 1);
      while (slots[at] != kFree && !equal_rows(rows + std::size_t(slots[at]) * width, row, width)) at = (at + 1) & (n_slots - 1);
      found[begin + t] = slots[at] == kFree ? -1 : std::int64_t(slots[at]);
    }
  }
}

}  // namespace consilience
