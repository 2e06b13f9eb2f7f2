// Unit tests of the kernels alone, without Python, built under the sanitizers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "allocate.hpp"
#include "chance.hpp"
#include "contingency.hpp"
#include "distances_within.hpp"
#include "element_centric.hpp"
#include "gibbs.hpp"
#include "label_tables.hpp"
#include "lloyd.hpp"
#include "merge.hpp"
#include "parallel.hpp"
#include "random.hpp"
#include "signatures.hpp"
#include "spanning_tree_genie.hpp"
#include "sweep.hpp"
#include "xlogx.hpp"

using namespace consilience;

static int checks = 0, failures = 0;
#define CHECK(what)                                                                      \
  do {                                                                                   \
    ++checks;                                                                            \
    if (!(what)) ++failures, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #what);      \
  } while (false)

static bool near(double a, double b, double relative = 1e-12) {
  return std::fabs(a - b) <= relative * (1 + std::fabs(a) + std::fabs(b));
}

static void test_parallel() {
  for (int threads : {0, 1, 2, 7, 64}) {
    std::vector<int> seen(1000, 0);
    parallel_for(seen.size(), threads, [&](std::size_t unit, std::size_t worker) {
      if (worker >= std::size_t(std::max(threads, 1))) throw std::logic_error("worker out of range");
      ++seen[unit];
    });
    CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 1000);
    CHECK(*std::max_element(seen.begin(), seen.end()) == 1);
  }
  parallel_for(0, 4, [](std::size_t, std::size_t) { throw std::logic_error("no unit to call"); });
  for (int threads : {1, 3}) {
    bool thrown = false;
    try {
      parallel_for(100, threads, [](std::size_t unit, std::size_t) {
        if (unit == 42) throw std::runtime_error("42");
      });
    } catch (const std::runtime_error& error) {
      thrown = std::string(error.what()) == "42";
    }
    CHECK(thrown);
  }
}

static void test_xlogx() {
  for (std::uint64_t limit : {0u, 3u, 100u, 1u << 20}) {
    const XLogX phi(1000, limit);
    CHECK(phi.size() == std::min<std::uint64_t>(1000, limit) + 1);
    for (std::uint64_t x : {0, 1, 2, 3, 4, 99, 100, 101, 999, 1000, 5000}) {
      const double exact = x ? double(x) * std::log(double(x)) : 0;
      CHECK(phi(x) == exact);
      for (std::uint64_t d : {1, 2, 50}) {
        const double later = double(x + d) * std::log(double(x + d));
        CHECK(near(phi.rise(x, d), later - exact, 1e-11));
      }
    }
  }
  // Far beyond the table the difference keeps its digits: d/dx x log x = log x + 1.
  const XLogX phi(10);
  CHECK(near(phi.rise(std::uint64_t(1) << 52), std::log(std::pow(2.0, 52)) + 1));
}

static void test_random() {
  // Known answers published with the generator.
  CHECK((philox({0, 0, 0, 0}, {0, 0}) ==
         std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
         std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  Stream a(7, 1), b(7, 1), c(7, 2), d(8, 1);
  int same_unit = 0, same_seed = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t x = a.bits();
    CHECK(x == b.bits());
    same_unit += x == c.bits();
    same_seed += x == d.bits();
  }
  CHECK(same_unit == 0 && same_seed == 0);
  std::vector<int> count(7, 0);
  for (int i = 0; i < 70000; ++i) ++count[std::size_t(a.below(7))];
  for (int x : count) CHECK(std::abs(x - 10000) < 500);  // five standard deviations
  CHECK(a.below(1) == 0);
  for (int i = 0; i < 1000; ++i) {
    const double u = a.uniform();
    CHECK(u >= 0 && u < 1);
  }
}

static void test_signatures() {
  Stream random(3, 0);
  for (std::size_t m : {1u, 2u, 5u}) {
    const std::size_t n = 5000;
    std::vector<std::int32_t> labels(n * m);
    for (auto& x : labels) x = std::int32_t(random.below(6)) - 1;
    std::vector<std::int64_t> inverse(n);
    Signatures s;
    const auto* rows = reinterpret_cast<const std::uint8_t*>(labels.data());
    s.collapse(rows, n, m * sizeof(std::int32_t), inverse.data());
    std::map<std::vector<std::int32_t>, std::int64_t> seen;
    std::vector<std::int64_t> count;
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<std::int32_t> row(labels.begin() + std::ptrdiff_t(i * m),
                                          labels.begin() + std::ptrdiff_t((i + 1) * m));
      const auto found = seen.emplace(row, std::int64_t(seen.size()));
      if (found.second) {
        count.push_back(0);
        CHECK(s.first[std::size_t(found.first->second)] == std::int64_t(i));
      }
      ++count[std::size_t(found.first->second)];
      CHECK(inverse[i] == found.first->second);
    }
    CHECK(s.count == count);
    std::vector<std::int32_t> distinct;
    for (const std::int64_t i : s.first)
      distinct.insert(distinct.end(), labels.begin() + i * std::int64_t(m), labels.begin() + (i + 1) * std::int64_t(m));
    distinct[0] = 77;  // the first row is not among them any more
    const auto* kept = reinterpret_cast<const std::uint8_t*>(distinct.data());
    const auto slots = slots_of(kept, s.first.size(), m * sizeof(std::int32_t));
    std::vector<std::int64_t> found(n);
    find_rows(kept, slots.data(), slots.size(), rows, n, m * sizeof(std::int32_t), found.data());
    for (std::size_t i = 0; i < n; ++i) CHECK(found[i] == (inverse[i] == 0 ? -1 : inverse[i]));
  }
}

// Sums over every pair's table, made one table at a time.
template <class Code, class Term>
static void check_pair_sums(std::size_t n, std::size_t m, int k, const Term& term, int threads, bool missing) {
  using Sum = typename Term::Sum;
  Stream random(11, std::uint64_t(k));
  std::vector<Code> codes(n * m);
  for (auto& x : codes) x = missing && random.below(5) == 0 ? Codes<Code>::kMissing : Code(random.below(std::uint64_t(k)));
  const std::vector<std::int32_t> clusters(m, k);
  const std::size_t begin = m / 3, width = m - begin;
  std::vector<Sum> joint(m * width), own(m * width), other(m * width);
  std::vector<std::int64_t> known(m * width);
  pair_sums(Codes<Code>{codes.data(), m, n, clusters.data()}, term, threads,
            PairSums<Sum>{begin, m, joint.data(), missing ? own.data() : nullptr, missing ? other.data() : nullptr,
                          missing ? known.data() : nullptr});
  std::vector<std::int32_t> a(n), b(n);
  auto plain = [&](std::size_t row, std::vector<std::int32_t>& out) {
    for (std::size_t i = 0; i < n; ++i) {
      const Code x = codes[row * n + i];
      out[i] = x == Codes<Code>::kMissing ? -1 : std::int32_t(x);
    }
  };
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = begin; j < m; ++j) {
      plain(i, a), plain(j, b);
      std::vector<std::int64_t> table(std::size_t(k) * std::size_t(k), 0), rows(std::size_t(k), 0), columns = rows;
      contingency<std::int64_t>(a.data(), b.data(), nullptr, n, std::size_t(k), table.data());
      Sum s = 0, r = 0, c = 0;
      std::int64_t total = 0;
      for (std::size_t x = 0; x < std::size_t(k); ++x)
        for (std::size_t y = 0; y < std::size_t(k); ++y) {
          const std::int64_t cell = table[x * std::size_t(k) + y];
          s += term(std::uint64_t(cell)), rows[x] += cell, columns[y] += cell, total += cell;
        }
      for (std::size_t x = 0; x < std::size_t(k); ++x)
        r += term(std::uint64_t(rows[x])), c += term(std::uint64_t(columns[x]));
      const std::size_t at = i * width + j - begin;
      CHECK(near(double(joint[at]), double(s)));
      if (missing)
        CHECK(near(double(own[at]), double(r)) && near(double(other[at]), double(c)) && known[at] == total);
    }
}

static void test_pair_sums() {
  const XLogX phi(700, 100);
  for (bool missing : {false, true})
    for (int threads : {1, 4}) {
      for (int k : {1, 2, 3, 7, 15, 60, 90}) check_pair_sums<std::uint8_t>(130, 40, k, Square{}, threads, missing);
      check_pair_sums<std::uint8_t>(700, 5, 2, Square{}, threads, missing);  // more than 255 objects in a cluster
      check_pair_sums<std::uint8_t>(700, 35, 5, XLogXTerm{phi}, threads, missing);
      check_pair_sums<std::uint16_t>(200, 9, 300, Square{}, threads, missing);
      check_pair_sums<std::uint32_t>(200, 9, 300, XLogXTerm{phi}, threads, missing);
    }
}

// Element-centric sums of pairs and of objects add up to the same, whatever the threads, and a clustering is equal to itself.
template <class Code>
static void check_overlaps(std::size_t n, std::size_t m, std::uint64_t k, bool missing) {
  Stream random(6, k);
  std::vector<Code> labels(m * n);
  for (Code& label : labels) label = missing && random.below(5) == 0 ? Codes<Code>::kMissing : Code(random.below(k));
  const std::vector<std::int32_t> clusters(m, std::int32_t(k));
  const Codes<Code> codes{labels.data(), m, n, clusters.data()};
  std::vector<double> sums(m * m, 0), objects(n, 0), chance(m * m, 0);
  std::vector<std::int64_t> known(m * m, std::int64_t(n));
  overlap_sums(codes, 0, m, 1, sums.data(), missing ? known.data() : nullptr);
  object_overlaps(codes, 0, m, 1, objects.data());
  expected_sums(codes, 0, m, 1, chance.data());
  double pairs = 0;
  for (std::size_t a = 0; a < m; ++a) {
    CHECK(near(sums[a * m + a], double(known[a * m + a])));
    for (std::size_t b = a + 1; b < m; ++b) pairs += sums[a * m + b];
  }
  CHECK(near(pairs, std::accumulate(objects.begin(), objects.end(), 0.0)));
  std::vector<double> again(m * m, 0), objects_again(n, 0), chance_again(m * m, 0);
  overlap_sums(codes, 0, m, 4, again.data(), missing ? known.data() : nullptr);
  object_overlaps(codes, 0, m / 2, 4, objects_again.data());
  object_overlaps(codes, m / 2, m, 4, objects_again.data());
  expected_sums(codes, 0, m, 4, chance_again.data());
  CHECK(sums == again);
  CHECK(objects == objects_again);
  CHECK(chance == chance_again);
}

static void test_overlaps() {
  for (bool missing : {false, true}) {
    for (int k : {1, 3, 15, 90}) check_overlaps<std::uint8_t>(300, 37, std::uint64_t(k), missing);
    check_overlaps<std::uint16_t>(200, 6, 300, missing);
    check_overlaps<std::uint32_t>(200, 6, 300, missing);
  }
  // Two objects of three each: 1 or 2 are shared, 2 with chance 1/3; the others are certain.
  const XLogX phi(10);
  CHECK(near(expected_xlogx(3, 2, 2, phi), 2 * std::log(2.0) / 3));
  CHECK(near(expected_xlogx(10, 10, 4, phi), 4 * std::log(4.0)));
  CHECK(expected_xlogx(10, 0, 4, phi) == 0 && expected_xlogx(0, 0, 0, phi) == 0);
}

static void test_contingency_merges() {
  Stream random(5, 5);
  const std::size_t n = 999;
  std::vector<std::int32_t> a(n), b(n);
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i)
    a[i] = std::int32_t(random.below(5)) - 1, b[i] = std::int32_t(random.below(4)) - 1, weights[i] = random.uniform();
  std::vector<double> whole(12, 0), parts(12, 0);
  contingency(a.data(), b.data(), weights.data(), n, 3, whole.data());
  contingency(a.data(), b.data(), weights.data(), 400, 3, parts.data());
  contingency(a.data() + 400, b.data() + 400, weights.data() + 400, n - 400, 3, parts.data());
  CHECK(whole == parts);
}

static void test_within_sums() {
  Stream random(9, 9);
  const std::size_t n = 61, m = 7, k = 4;
  std::vector<double> distance(n * n);
  for (auto& x : distance) x = random.uniform();
  std::vector<std::int32_t> labels(m * n);
  for (auto& x : labels) x = std::int32_t(random.below(k + 1)) - 1;
  for (int threads : {1, 4}) {
    std::vector<double> sums(m * k, 0), expected(m * k, 0);
    for (std::size_t begin : {std::size_t(0), std::size_t(20), std::size_t(47)}) {
      const std::size_t rows = (begin == 0 ? 20 : begin == 20 ? 27 : n - 47), columns = n - begin;
      std::vector<double> block(rows * columns);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) block[i * columns + j] = distance[(begin + i) * n + begin + j];
      within_sums(block.data(), rows, columns, begin, labels.data(), m, n, k, threads, sums.data());
    }
    for (std::size_t q = 0; q < m; ++q)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j)
          if (labels[q * n + i] >= 0 && labels[q * n + i] == labels[q * n + j])
            expected[q * k + std::size_t(labels[q * n + i])] += distance[i * n + j];
    for (std::size_t t = 0; t < sums.size(); ++t) CHECK(near(sums[t], expected[t]));
  }
}

// Sweeps of random rows under every objective: the objective never falls, and is what a fresh start says it is.
template <class Count>
static void check_sweep(Objective objective, std::size_t k, std::size_t shortlist, bool own_values) {
  Stream random(21, k);
  const std::size_t n = 150, views = 3, per_view = 8, columns = views * per_view;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column, view_of(columns), labels(n);
  std::vector<Count> value, weight(n);
  for (std::size_t y = 0; y < columns; ++y) view_of[y] = std::int32_t(y / per_view);
  for (std::size_t i = 0; i < n; ++i) {
    weight[i] = Count(1 + random.below(3));
    labels[i] = std::int32_t(i < k ? i : random.below(k));
    for (std::size_t y = 0; y < columns; ++y)
      if (random.below(4) == 0) column.push_back(std::int32_t(y)), value.push_back(Count(1 + random.below(5)));
    start.push_back(std::int64_t(column.size()));
  }
  const std::vector<double> scale(views, objective == Objective::kNormalized ? 1.0 : 0.001);
  const Rows<Count> rows{n,          columns,           views,
                         start.data(), column.data(), own_values ? value.data() : nullptr,
                         weight.data(), view_of.data(), scale.data()};
  const SweepOptions options{k, objective, 0.0, 1e18, true, shortlist, 1, 2};
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  double last = -1e300;
  for (int pass = 0; pass < 4; ++pass) {
    random.shuffle(order.data(), n);
    const SweepResult found = Sweep<Count>(rows, options, labels.data()).run(order.data(), n);
    if (pass) CHECK(near(found.before, last, 1e-9));
    CHECK(found.after >= found.before - 1e-9);
    last = found.after;
  }
  for (std::size_t c = 0; c < k; ++c)
    CHECK(std::count(labels.begin(), labels.end(), std::int32_t(c)) > 0);
  SweepOptions hot = options;
  hot.temperature = 0.5;
  const SweepResult shaken = Sweep<Count>(rows, hot, labels.data()).run(order.data(), n);
  CHECK(near(Sweep<Count>(rows, options, labels.data()).value(), shaken.after, 1e-9));
}

static void test_label_votes() {
  const std::size_t n = 2500, r = 7, k = 4;
  std::vector<std::int32_t> columns(r * n), owner;
  std::vector<std::int64_t> offset(r);
  for (std::size_t q = 0; q < r; ++q) {
    offset[q] = std::int64_t(owner.size());
    for (std::size_t y = 0; y < q + 2; ++y) owner.push_back(std::int32_t((y + q) % k));
    for (std::size_t i = 0; i < n; ++i) columns[q * n + i] = std::int32_t((i * 31 + q * 7) % (q + 3)) - 1;
  }
  for (int threads : {1, 3}) {
    std::vector<std::int32_t> votes(n * k, -1);
    label_votes(columns.data(), n, r, offset.data(), owner.data(), k, threads, votes.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < k; ++c) {
        std::int32_t expected = 0;
        for (std::size_t q = 0; q < r; ++q) {
          const std::int32_t y = columns[q * n + i];
          expected += y >= 0 && owner[std::size_t(offset[q] + y)] == std::int32_t(c);
        }
        CHECK(votes[i * k + c] == expected);
      }
  }
}

static void test_sweep() {
  for (Objective objective : {Objective::kShannon, Objective::kQuadratic, Objective::kNormalized})
    for (std::size_t k : {2u, 5u, 20u})
      for (std::size_t shortlist : {0u, 1u, 2u, 3u, 4u, 5u})  // lanes of four: full, and not
        for (bool own_values : {false, true}) {
          check_sweep<std::int64_t>(objective, k, shortlist, own_values);
          check_sweep<double>(objective, k, shortlist, own_values);
        }
}

// Plain k-means in doubles from given objects; the labels when nothing changes any more, none if a cluster ran empty.
static std::vector<std::int32_t> plain_lloyd(const std::vector<double>& X, std::size_t n, std::size_t d, std::size_t k,
                                             const double* weights, const std::int64_t* start) {
  std::vector<double> centers(k * d);
  for (std::size_t c = 0; c < k; ++c)
    for (std::size_t j = 0; j < d; ++j) centers[c * d + j] = X[std::size_t(start[c]) * d + j];
  std::vector<std::int32_t> labels(n, -1);
  for (bool moving = true; moving;) {
    moving = false;
    std::vector<double> sums(k * d, 0.0), members(k, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double low = 1e300;
      std::int32_t best = 0;
      for (std::size_t c = 0; c < k; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < d; ++j) {
          const double gap = weights[j] * (X[i * d + j] - centers[c * d + j]);
          sum += gap * gap;
        }
        if (sum < low) low = sum, best = std::int32_t(c);
      }
      moving |= labels[i] != best;
      labels[i] = best;
      members[std::size_t(best)] += 1;
      for (std::size_t j = 0; j < d; ++j) sums[std::size_t(best) * d + j] += X[i * d + j];
    }
    for (std::size_t c = 0; c < k; ++c) {
      if (members[c] == 0) return {};
      for (std::size_t j = 0; j < d; ++j) centers[c * d + j] = sums[c * d + j] / members[c];
    }
  }
  return labels;
}

template <class Scores>
static std::vector<std::int32_t> check_runs(const typename Scores::Table& table, kmeans::Init init,
                                            const std::vector<kmeans::LloydRun>& runs) {
  const kmeans::LloydOptions options{init, 300, 5};
  std::vector<std::int32_t> labels(runs.size() * table.n), again = labels;
  std::vector<kmeans::LloydResult> found(runs.size()), twice = found;
  kmeans::lloyd<Scores>(table, options, runs, 1, labels.data(), found.data());
  kmeans::lloyd<Scores>(table, options, runs, 3, again.data(), twice.data());
  CHECK(labels == again);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    CHECK(found[r].inertia == twice[r].inertia && std::isfinite(found[r].inertia) && found[r].steps <= 300);
    std::vector<bool> used(runs[r].clusters, false);
    for (std::size_t i = 0; i < table.n; ++i) used[std::size_t(labels[r * table.n + i])] = true;
    CHECK(std::count(used.begin(), used.end(), true) == std::ptrdiff_t(runs[r].clusters));
  }
  return labels;
}

static void check_lloyd(std::size_t n, std::size_t d) {
  Stream random(31, d);
  std::vector<double> X(n * d), weights(4 * d);
  for (double& x : X) x = random.below(3) ? random.uniform() + 7 : 0.0;
  for (double& w : weights) w = random.uniform();
  std::vector<std::int64_t> start{0}, starts;
  std::vector<std::int32_t> column;
  std::vector<double> value;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j)
      if (X[i * d + j] != 0) column.push_back(std::int32_t(j)), value.push_back(X[i * d + j]);
    start.push_back(std::int64_t(column.size()));
  }
  for (std::size_t t = 0; t < 4 * 9; ++t) starts.push_back(std::int64_t((7 * t + t / 9) % n));
  std::vector<kmeans::LloydRun> runs;
  for (std::size_t r = 0; r < 4; ++r) runs.push_back({3 + 2 * r, r, weights.data() + r * d, starts.data() + r * 9});
  const kmeans::DenseTable dense(X.data(), n, d);
  const kmeans::SparseTable sparse(start.data(), column.data(), value.data(), n, d);
  const auto labels = check_runs<kmeans::DenseScores>(dense, kmeans::Init::kGiven, runs);
  CHECK(labels == check_runs<kmeans::SparseScores>(sparse, kmeans::Init::kGiven, runs));
  int compared = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    const auto plain = plain_lloyd(X, n, d, runs[r].clusters, runs[r].weights, runs[r].start);
    compared += !plain.empty();
    CHECK(std::equal(plain.begin(), plain.end(), labels.begin() + std::ptrdiff_t(r * n)));
  }
  CHECK(compared >= 3);
  for (kmeans::Init init : {kmeans::Init::kRandom, kmeans::Init::kPlusPlus})
    CHECK(check_runs<kmeans::DenseScores>(dense, init, runs) == check_runs<kmeans::SparseScores>(sparse, init, runs));
}

// Points between two centers, so near the middle that only doubles can tell: whatever floats said of them, they must
// be looked at again as soon as their own center moves away, although the clock of the other has run on much farther.
template <class Scores>
static void check_doubts(const typename Scores::Table& table, const std::vector<double>& X) {
  const double square[2] = {1.0, 1.0}, never = std::numeric_limits<double>::infinity();
  const auto at = [](double x) { return std::vector<double>{x, 1.0}; };
  Scores scores(table);
  scores.begin(3, square);
  std::vector<std::int32_t> labels(table.padded(), -2);
  const auto decide = [&](std::size_t i, std::int32_t) { labels[i] = X[2 * i] >= 0 ? 0 : 1; };
  scores.place(0, at(1.5).data(), never);
  scores.place(1, at(-1.0).data(), never);
  scores.place(2, at(30.0).data(), never);
  scores.visit_changes(labels.data(), decide);
  scores.place(0, at(1.0).data(), 0.5);  // floats see equal scores now, and take the first
  scores.place(2, at(29.5).data(), 0.5);
  scores.visit_changes(labels.data(), decide);
  scores.place(1, at(-1.1).data(), 0.1);
  const auto before = labels;
  scores.visit_changes(labels.data(), [&](std::size_t i, std::int32_t) { labels[i] = 0; });
  CHECK(std::count(before.begin(), before.end(), 1) > 20);
  CHECK(std::count(labels.begin(), labels.end(), 1) == 0);
}

static void test_doubts() {
  Stream random(41, 0);
  std::vector<double> X;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  for (int i = 0; i < 100; ++i) {
    X.push_back((random.uniform() - 0.5) * 1e-9), X.push_back(random.uniform());
    column.push_back(0), column.push_back(1);
    start.push_back(std::int64_t(column.size()));
  }
  check_doubts<kmeans::DenseScores>(kmeans::DenseTable(X.data(), 100, 2), X);
  check_doubts<kmeans::SparseScores>(kmeans::SparseTable(start.data(), column.data(), X.data(), 100, 2), X);
}

static void test_lloyd() {
  for (std::size_t d : {6u, 9u, 70u})
    for (std::size_t n : {64u, 400u}) check_lloyd(n, d);
  const std::vector<double> same(40, 1.5);  // one distinct object, weights of 0, one object
  for (std::size_t d : {1u, 4u, 40u}) {
    const std::size_t n = 40 / d;
    const std::vector<double> none(d, 0.0);
    const kmeans::DenseTable table(same.data(), n, d);
    std::vector<std::int32_t> labels(n, 9);
    kmeans::LloydResult found;
    for (const double* weights : {static_cast<const double*>(nullptr), none.data()})
      for (kmeans::Init init : {kmeans::Init::kRandom, kmeans::Init::kPlusPlus}) {
        kmeans::lloyd<kmeans::DenseScores>(table, {init, 300, 1}, {{n, 0, weights, nullptr}}, 1, labels.data(), &found);
        CHECK(std::count(labels.begin(), labels.end(), 0) == std::ptrdiff_t(n) && found.inertia == 0);
      }
  }
}

// log p(Y, Z) by the Gamma functions of its definition.
static double log_joint(const MixtureRows& rows, const MixturePrior& prior, const std::vector<std::int32_t>& z) {
  const std::size_t k_all = prior.clusters;
  std::vector<double> size(k_all, 0.0);
  for (std::int32_t k : z) ++size[std::size_t(k)];
  double sum = 0, behind = double(rows.n);
  for (std::size_t k = 0; k < k_all; ++k) {
    if (!prior.sticks) {
      const double each = prior.alpha / double(k_all);
      sum += std::lgamma(each + size[k]) - std::lgamma(each);
      continue;
    }
    const double here_on = behind;
    behind -= size[k];
    if (k + 1 < k_all)
      sum += std::log(prior.alpha) + std::lgamma(1 + size[k]) + std::lgamma(prior.alpha + behind) -
             std::lgamma(1 + prior.alpha + here_on);
  }
  for (std::size_t m = 0; m < rows.clusterings; ++m)
    for (std::size_t k = 0; k < k_all; ++k) {
      std::vector<double> count(rows.labels_of(m), 0.0);
      double total = 0;
      for (std::size_t i = 0; i < rows.n; ++i) {
        const std::int32_t y = rows.label[i * rows.clusterings + m];
        if (y >= 0 && std::size_t(z[i]) == k) ++count[std::size_t(y)], ++total;
      }
      const double whole = double(count.size()) * prior.beta;
      sum += std::lgamma(whole) - std::lgamma(whole + total);
      for (double x : count) sum += std::lgamma(prior.beta + x) - std::lgamma(prior.beta);
    }
  return sum;
}

static void test_gibbs() {
  Stream random(11, 0);
  const std::size_t n = 60, r = 11, k_all = 7;
  const std::int64_t widths[] = {1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> offset(r + 1, 0);
  for (std::size_t m = 0; m < r; ++m) offset[m + 1] = offset[m] + widths[m];
  std::vector<std::int32_t> label(n * r), start(n);
  for (std::size_t i = 0; i < n * r; ++i)
    label[i] = random.below(6) == 0 ? -1 : std::int32_t(random.below(std::uint64_t(widths[i % r])));
  for (auto& k : start) k = std::int32_t(random.below(4));
  const MixtureRows rows{n, r, label.data(), offset.data()};
  for (bool sticks : {false, true})
    for (std::size_t clusters : {std::size_t(4), k_all}) {
      const MixturePrior prior{clusters, sticks, 0.8, 0.3};
      std::vector<std::int32_t> z = start;
      std::vector<double> found(clusters);
      Gibbs gibbs(rows, prior, z.data());
      for (std::uint64_t sweep = 0; sweep < 5; ++sweep) {
        for (std::size_t i = 0; i < n; i += 7) {
          gibbs.conditional(i, found.data());
          std::vector<std::int32_t> other = z;
          std::vector<double> logs(clusters);
          double total = 0;
          for (std::size_t k = 0; k < clusters; ++k) other[i] = std::int32_t(k), logs[k] = log_joint(rows, prior, other);
          const double top = *std::max_element(logs.begin(), logs.end());
          for (double& x : logs) x = std::exp(x - top), total += x;
          for (std::size_t k = 0; k < clusters; ++k) CHECK(near(found[k], logs[k] / total, 1e-10));
        }
        gibbs.sweep(5, sweep);  // the state that a sweep leaves is that of a fresh start
        std::vector<std::int64_t> table(offset[r] * clusters), size(clusters), again(table.size()), sizes(clusters);
        gibbs.counts(table.data(), size.data());
        Gibbs(rows, prior, z.data()).counts(again.data(), sizes.data());
        CHECK(table == again && size == sizes);
      }
    }
  // More sweeps of one object equal sweeps of fresh ones.
  std::vector<std::int32_t> a = start, b = start;
  const MixturePrior prior{k_all, true, 2.0, 0.5};
  Gibbs kept(rows, prior, a.data());
  for (std::uint64_t sweep = 0; sweep < 20; ++sweep) {
    kept.sweep(9, sweep);
    Gibbs(rows, prior, b.data()).sweep(9, sweep);
    CHECK(a == b);
  }
  // A lone object's cluster is empty without it, however small beta: as likely as the other empty one.
  const std::int32_t few[] = {0, 0, 1};
  const std::int64_t two[] = {0, 2};
  std::int32_t where[] = {0, 0, 1};
  double found[3];
  Gibbs(MixtureRows{3, 1, few, two}, MixturePrior{3, false, 1.0, 1e-20}, where).conditional(2, found);
  CHECK(near(found[0], 0, 1e-12) && near(found[1], 0.5, 1e-12) && near(found[2], 0.5, 1e-12));
}


static void test_fast_log() {
  Stream random(31, 0);
  for (int t = 0; t < 20000; ++t) {
    const double x = std::exp(1400 * (random.uniform() - 0.5));
    CHECK(near(fast_log(x), std::log(x), 4e-16));
    CHECK(near(fast_xlogx(x < 1e290 ? x : 1.0), x < 1e290 ? x * std::log(x) : 0.0, 4e-16));
    const float y = float(std::exp(150 * (random.uniform() - 0.5)));
    CHECK(std::fabs(fast_log_float(y) - std::log(y)) <= 2e-6f * (1 + std::fabs(std::log(y))));
  }
  CHECK(fast_log(1.0) == 0.0 && fast_xlogx(0.0) == 0.0);
  for (int t = 0; t < 20000; ++t) {
    const float y = float(std::exp(150 * (random.uniform() - 0.5)));
    CHECK(std::fabs((rough_log2(y) - kRoughLog2Extra) / kRoughLog2Unit - std::log2(y)) <= 0.008);
  }
}

// The scores of a few clusters, beside those of one after the other with the row taken out: the same to the last digit.
static void test_exact_scores() {
  Stream random(35, 0);
  const std::size_t n = 60, k = 9, views = 2, per_view = 7, columns = views * per_view;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column, view_of(columns), labels(n);
  std::vector<double> value, weight(n, 1.0), scale{0.3, 0.7};
  for (std::size_t y = 0; y < columns; ++y) view_of[y] = std::int32_t(y / per_view);
  for (std::size_t i = 0; i < n; ++i) {
    labels[i] = std::int32_t(i % k);
    for (std::size_t y = 0; y < columns; ++y)
      if (random.below(3) == 0) column.push_back(std::int32_t(y)), value.push_back(random.uniform());
    start.push_back(std::int64_t(column.size()));
  }
  const Rows<double> rows{n, columns, views, start.data(), column.data(), value.data(), weight.data(), view_of.data(), scale.data()};
  for (bool by_cluster : {false, true}) {
    Tables<double> tables(rows, Objective::kShannon, k, by_cluster, labels.data(), 0);
    RowReader<double> reader(rows);
    ExactScores exact;
    std::vector<double> found(k);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t count : {1u, 2u, 3u, 4u, 5u, 9u}) {
        const std::size_t own = std::size_t(labels[i]);
        std::vector<std::int32_t> candidates;
        for (std::size_t t = 0; t < count; ++t) candidates.push_back(std::int32_t((own + t * 2) % k));
        std::sort(candidates.begin(), candidates.end());
        const Row<double> row = reader.read(i);
        exact.find(rows, tables, row, own, candidates, found.data());
        tables.take(row, i, own);
        for (std::int32_t c : candidates) {
          double score = 0, mass = 0, change = 0;
          for (std::size_t e = 0; e < row.size; ++e) {
            const std::size_t y = std::size_t(row.column[e]), v = std::size_t(view_of[y]);
            change += tables.phi.rise(tables.table[tables.cell(y, std::size_t(c))], row.at(e));
            mass += row.at(e);
            if (e + 1 < row.size && view_of[std::size_t(row.column[e + 1])] == view_of[y]) continue;
            score += scale[v] * (change - tables.phi.rise(tables.total[v * k + std::size_t(c)], mass));
            change = mass = 0;
          }
          CHECK(found[std::size_t(c)] == score);
        }
        tables.put_back(row, i, own);
      }
  }
}

// The near score of every cluster is within the promised share of the row's mass.
static void test_near_scores() {
  Stream random(32, 0);
  const std::size_t lines = 30, k = 21;
  for (int trial = 0; trial < 50; ++trial) {
    NearScores near_scores(lines, k);
    std::vector<double> table(lines * k), exact(k, 0.0);
    for (std::size_t t = 0; t < table.size(); ++t) {
      table[t] = random.below(3) ? std::exp(6 * random.uniform() - 3) : 0.0;
      near_scores.at(t / k, t % k) = float(table[t]);
    }
    double mass = 0;
    std::vector<std::int32_t> all;
    std::vector<double> xs;
    near_scores.clear();
    for (std::size_t line = 0; line < lines; ++line) {
      const double x = std::exp(3 * random.uniform() - 2);
      mass += x;
      near_scores.add(line, float(x), float(x));
      all.push_back(std::int32_t(line)), xs.push_back(x);
      for (std::size_t c = 0; c < k; ++c) {  // cluster 0 holds the row already
        if (c == 0) table[line * k] += x, near_scores.at(line, 0) = float(table[line * k]);
        const double t = c == 0 ? table[line * k] - x : table[line * k + c];
        exact[c] += fast_xlogx(t + x) - fast_xlogx(t) - x;
      }
    }
    near_scores.score(0);
    for (std::size_t c = 0; c < k; ++c) CHECK(std::fabs(near_scores.scores()[c] - exact[c]) <= 0.039 * mass);
    CHECK(near_scores.largest() == *std::max_element(near_scores.scores(), near_scores.scores() + k));
    // The same entries at once, in two parts.
    std::vector<float> one_by_one(near_scores.scores(), near_scores.scores() + k);
    near_scores.clear();
    double sum = near_scores.add(all.data(), xs.data(), std::size_t(trial % 7), 1.0, 1.0);
    sum += near_scores.add(all.data() + trial % 7, xs.data() + trial % 7, lines - std::size_t(trial % 7), 1.0, 1.0);
    near_scores.score(0);
    CHECK(near(sum, mass));
    for (std::size_t c = 0; c < k; ++c) CHECK(std::fabs(near_scores.scores()[c] - one_by_one[c]) <= 1e-5 * mass);
  }
}

// The best clusters of rows by linear scores, beside all scores sorted.
static void test_shortlist() {
  Stream random(33, 0);
  for (std::size_t k : {3u, 64u, 65u, 200u}) {
    const std::size_t lines = 17, rows = 9, wanted = 3;
    LogTiles tiles(lines, k);
    std::vector<float> logs(lines * k);
    for (std::size_t t = 0; t < logs.size(); ++t)
      tiles.at(t / k, t % k) = logs[t] = float(random.below(8));  // whole numbers: ties, and sums without rounding
    LogTiles::Block block;
    std::vector<std::vector<float>> score(rows, std::vector<float>(k, 0.0f));
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t line = r; line < lines; line += 1 + r) {
        const float x = float(random.below(5)) - 2;
        block.add(line, x);
        for (std::size_t c = 0; c < k; ++c) score[r][c] += x * logs[line * k + c];
      }
      block.end_row();
    }
    std::vector<std::int32_t> chosen(rows * wanted), order(k);
    for (std::size_t t = 0; t < chosen.size(); ++t) chosen[t] = std::int32_t((t / wanted * 5 + t % wanted) % k);  // whatever is there
    tiles.best(block, wanted, chosen.data());
    for (std::size_t r = 0; r < rows; ++r) {
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return score[r][a] > score[r][b]; });
      for (std::size_t t = 0; t < wanted; ++t) CHECK(chosen[r * wanted + t] == order[t]);
    }
  }
}

// Rows read by groups are the sums over the groups, a view after the other.
static void test_grouped_rows() {
  const std::int64_t start[] = {0, 3, 3, 5};
  const std::int32_t column[] = {0, 2, 3, 1, 3}, view_of[] = {0, 0, 1}, group[] = {0, 1, 0, -1, 2, 2, -1, 2};
  const double value[] = {1, 2, 3, 4, 5}, weight[] = {1, 1, 1}, scale[] = {1, 1};
  const Rows<double> rows{3, 3, 2, start, column, value, weight, view_of, scale, group, 4};
  RowReader<double> reader(rows);
  const Row<double> first = reader.read(0);
  CHECK(first.size == 2 && first.column[0] == 0 && first.at(0) == 3 && first.column[1] == 2 && first.at(1) == 4);
  CHECK(reader.read(1).size == 0);
  const Row<double> last = reader.read(2);
  CHECK(last.size == 2 && last.column[0] == 1 && last.at(0) == 4 && last.column[1] == 2 && last.at(1) == 9);

  const Rows<double> one{3, 2, 1, start, column, value, weight, view_of, scale, group, 4};
  std::int64_t new_start[4];
  std::int32_t new_column[5];
  double new_value[5];
  const std::size_t entries = sum_rows(one, new_start, new_column, new_value);
  CHECK(entries == 2 && new_start[3] == 2);
  const Rows<double> summed{3, 2, 1, new_start, new_column, new_value, weight, view_of, scale};
  RowReader<double> slow(one), quick(summed);
  for (std::size_t i = 0; i < one.n; ++i) {
    const Row<double> a = slow.read(i), b = quick.read(i);
    CHECK(a.size == b.size);
    for (std::size_t e = 0; e < a.size; ++e) CHECK(a.column[e] == b.column[e] && a.at(e) == b.at(e));
  }
}

// Grouped rows under threads: the same labels whatever their number, and gains that add up.
static void test_grouped_sweep() {
  Stream random(34, 0);
  const std::size_t n = 200, raw = 40, groups = 7, views = 2, k = 30;
  std::vector<std::int64_t> start{0}, order(n);
  std::vector<std::int32_t> column, view_of(views * groups), group(views * raw), first;
  std::vector<double> value, weight(n, 1.0), scale(views, 0.001);
  for (std::size_t y = 0; y < view_of.size(); ++y) view_of[y] = std::int32_t(y / groups);
  for (std::size_t t = 0; t < group.size(); ++t) group[t] = std::int32_t(t / raw * groups + random.below(groups));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t y = 0; y < raw; ++y)
      if (random.below(5) == 0) column.push_back(std::int32_t(y)), value.push_back(random.uniform() + 0.1);
    start.push_back(std::int64_t(column.size()));
  }
  const Rows<double> rows{n, view_of.size(), views, start.data(), column.data(), value.data(), weight.data(),
                          view_of.data(), scale.data(), group.data(), raw};
  std::iota(order.begin(), order.end(), 0);
  for (int threads : {1, 4}) {
    std::vector<std::int32_t> labels(n);
    for (std::size_t i = 0; i < n; ++i) labels[i] = std::int32_t(i % k);
    SweepOptions options{k, Objective::kShannon, 0.0, 1e18, true, 4, 1, 2, 64, threads};
    const SweepResult found = Sweep<double>(rows, options, labels.data()).run(order.data(), n);
    CHECK(found.moves > 0 && found.after > found.before);
    CHECK(near(Sweep<double>(rows, options, labels.data()).value(), found.after, 1e-12));
    if (threads == 1) first = labels;
    CHECK(labels == first);
  }
  // Of one view, summed before: the same labels, with a shortlist and without, with noise and without.
  const Rows<double> one{n, groups, 1, start.data(), column.data(), value.data(), weight.data(), view_of.data(), scale.data(), group.data(), raw};
  std::vector<std::int64_t> new_start(n + 1);
  std::vector<std::int32_t> new_column(column.size());
  std::vector<double> new_value(column.size());
  sum_rows(one, new_start.data(), new_column.data(), new_value.data());
  const Rows<double> summed{n, groups, 1, new_start.data(), new_column.data(), new_value.data(), weight.data(), view_of.data(), scale.data()};
  for (std::size_t shortlist : {0u, 4u})
    for (double temperature : {0.0, 0.5}) {
      const SweepOptions options{k, Objective::kShannon, temperature, 1e18, true, shortlist, 1, 2, 64};
      std::vector<std::int32_t> a(n), b;
      for (std::size_t i = 0; i < n; ++i) a[i] = std::int32_t(i % k);
      b = a;
      const SweepResult read = Sweep<double>(one, options, a.data()).run(order.data(), n);
      const SweepResult given = Sweep<double>(summed, options, b.data()).run(order.data(), n);
      CHECK(read.moves > 0 && a == b && read.after == given.after);
      CHECK(near(Sweep<double>(summed, options, b.data()).value(), given.after, 1e-12));
    }
}

// Four clusters, two pairs of twins: both rules join the twins, and twins cost nothing.
static void test_merge() {
  const double table[] = {4, 8, 0, 0, 2, 4, 1, 3, 0, 0, 5, 15};  // columns x clusters
  const std::int64_t order[] = {3, 1, 0, 2};
  for (bool nearest : {false, true}) {
    Merger merger(table, 3, 4);
    if (nearest)
      merger.nearest(order, 2);
    else
      merger.greedy(2);
    std::int32_t labels[4];
    CHECK(merger.labels(labels) == 2);
    CHECK(labels[0] == 0 && labels[1] == 0 && labels[2] == 1 && labels[3] == 1);
  }
  Merger all(table, 3, 4);
  all.greedy(3);
  std::int32_t labels[4];
  CHECK(all.labels(labels) == 1);
}

static void test_allocate() {
  // Two samples of five items: columns 0 and 1, 2 and 3, and 4 of all objects.
  const std::int64_t start[] = {0, 3, 6, 9, 12, 15}, order[] = {4, 0, 2, 1, 3};
  const std::int32_t column[] = {0, 2, 4, 0, 2, 4, 0, 3, 4, 1, 3, 4, 1, 3, 4}, weight[] = {1, 2, 1, 1, 40};
  const double scale[] = {-1, -1, -1, -1, 1};
  for (bool square : {false, true}) {
    const Items items{5, 5, start, column, nullptr, weight, scale};
    std::int32_t labels[] = {-1, -1, -1, -1, -1};
    Allocator allocator(items, square, 5, 45, labels);
    CHECK(allocator.run(order, 5, 10) >= 5);
    CHECK(labels[0] == labels[1] && labels[3] == labels[4] && labels[0] != labels[3]);
    Allocator again(items, square, 5, 45, labels);
    CHECK(std::fabs(again.value() - allocator.value()) < 1e-12);
    CHECK(again.run(order, 5, 10) == 0);
  }
  // Many clusters make room for themselves: every item is alone in both samples.
  std::vector<std::int64_t> begin, all;
  std::vector<std::int32_t> own, ones(100, 1), labels(100, -1);
  std::vector<double> scales(200, -1.0);
  scales.push_back(1.0);
  for (std::int32_t i = 0; i < 100; ++i) {
    begin.push_back(3 * i);
    all.push_back(i);
    own.insert(own.end(), {i, 100 + i, 200});
  }
  begin.push_back(300);
  const Items items{100, 201, begin.data(), own.data(), nullptr, ones.data(), scales.data()};
  Allocator wide(items, false, 100, 100, labels.data());
  wide.run(all.data(), 100, 5);
  CHECK(*std::max_element(labels.begin(), labels.end()) == 99);
}

static void test_spanning() {
  const std::size_t n = 1500;  // more than a block
  Stream stream(3, 0);
  std::vector<double> points(2 * n), core(n, 0.01), lengths(n - 1), plain(n - 1);
  for (double& x : points) x = stream.uniform();
  std::vector<std::int64_t> edges(2 * n - 2), merges(2 * n - 2);
  spanning_tree(points.data(), nullptr, n, 2, edges.data(), plain.data());
  spanning_tree(points.data(), core.data(), n, 2, edges.data(), lengths.data());
  CHECK(std::is_sorted(lengths.begin(), lengths.end()) && lengths[0] == 0.01);
  for (std::size_t e = 0; e + 1 < n; ++e) CHECK(near(lengths[e], std::max(0.01, plain[e])));
  for (double gini : {0.0, 0.3, 1.0}) {
    genie_merges(edges.data(), n, gini, merges.data());
    std::vector<int> seen(2 * n - 2, 0);
    for (std::int64_t node : merges) ++seen[std::size_t(node)];
    CHECK(*std::min_element(seen.begin(), seen.end()) == 1);
  }
  spanning_tree(points.data(), nullptr, 1, 2, nullptr, nullptr);  // one point has no edge
  genie_merges(nullptr, 1, 0.3, nullptr);
}

int main() {
  test_parallel();
  test_xlogx();
  test_random();
  test_signatures();
  test_gibbs();
  test_contingency_merges();
  test_pair_sums();
  test_overlaps();
  test_within_sums();
  test_label_votes();
  test_sweep();
  test_lloyd();
  test_doubts();
  test_fast_log();
  test_exact_scores();
  test_near_scores();
  test_shortlist();
  test_grouped_rows();
  test_grouped_sweep();
  test_merge();
  test_allocate();
  test_spanning();
  std::printf("kernels: %d checks, %d failures\n", checks, failures);
  return failures ? 1 : 0;
}
