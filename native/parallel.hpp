// Threads over independent units, with an explicit thread count.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace consilience {

// How many workers parallel_for uses.
inline std::size_t workers(std::size_t count, int threads) {
  return std::max<std::size_t>(1, std::min<std::size_t>(std::size_t(std::max(threads, 1)), count));
}

// Calls f(unit, worker) once for every unit in [0, count). Units are handed out one at a time, so which worker gets
// which unit is chance: f must write only to places owned by the unit, and use the worker number for scratch alone.
// The first exception stops the handing out and is thrown again here.
template <class F>
void parallel_for(std::size_t count, int threads, F&& f) {
  const std::size_t used = workers(count, threads);
  if (used == 1) {
    for (std::size_t unit = 0; unit < count; ++unit) f(unit, std::size_t(0));
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex guard;
  auto work = [&](std::size_t worker) {
    try {
      for (std::size_t unit; (unit = next.fetch_add(1, std::memory_order_relaxed)) < count;) f(unit, worker);
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      std::lock_guard<std::mutex> lock(guard);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(used - 1);
  for (std::size_t worker = 1; worker < used; ++worker) {
    try {
      pool.emplace_back(work, worker);
    } catch (const std::system_error&) {
      break;  // the system has no more threads: those there are do all the work
    }
  }
  work(0);
  for (auto& thread : pool) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace consilience
