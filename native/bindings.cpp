// The only file that knows Python: arrays come in, kernels run without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "allocate.hpp"
#include "chance.hpp"
#include "co_association.hpp"
#include "colors.hpp"
#include "contingency.hpp"
#include "distances_within.hpp"
#include "element_centric.hpp"
#include "gibbs.hpp"
#include "label_tables.hpp"
#include "linkage.hpp"
#include "lloyd.hpp"
#include "merge.hpp"
#include "random.hpp"
#include "signatures.hpp"
#include "spanning_tree_genie.hpp"
#include "sweep.hpp"
#include "xlogx.hpp"

namespace nb = nanobind;
using namespace consilience;

namespace {

template <class T, int D>
using In = nb::ndarray<const T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T, int D>
using Out = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

// Binds a function whose arguments are taken as they are: an array of another type or layout is refused, never copied,
// so that results cannot be written to a copy and an overload cannot be chosen by converting.
template <class F, std::size_t... I>
void define(nb::module_& m, const char* name, F f, std::index_sequence<I...>) {
  m.def(name, f, (void(I), nb::arg().noconvert())...);
}
template <class F, class R, class... A>
void define(nb::module_& m, const char* name, F f, R (F::*)(A...) const) {
  define(m, name, f, std::index_sequence_for<A...>());
}
template <class F>
void define(nb::module_& m, const char* name, F f) {
  define(m, name, f, &F::operator());
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> hand_over(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

// Null where an array is empty, that is not given.
template <class Array>
auto given(const Array& array) {
  return array.size() ? array.data() : nullptr;
}

template <class Count>
void bind_contingency(nb::module_& m) {
  define(m, "contingency", [](const In<std::int32_t, 1>& a, const In<std::int32_t, 1>& b, const Out<Count, 2>& table) {
    nb::gil_scoped_release free;
    contingency<Count>(a.data(), b.data(), nullptr, a.size(), table.shape(1), table.data());
  });
  define(m, "contingency", [](const In<std::int32_t, 1>& a, const In<std::int32_t, 1>& b, const In<Count, 1>& weights,
                          const Out<Count, 2>& table) {
    nb::gil_scoped_release free;
    contingency<Count>(a.data(), b.data(), weights.data(), a.size(), table.shape(1), table.data());
  });
}

// sums is (1, rows, width), joint alone, or (3, rows, width) with own and other where labels are missing.
template <class Code, class Term>
void fill_pair_sums(const In<Code, 2>& codes, const In<std::int32_t, 1>& clusters, std::size_t begin, const Term& term,
                    const Out<typename Term::Sum, 3>& sums, const Out<std::int64_t, 2>& known, int threads) {
  const std::size_t rows = sums.shape(1), width = sums.shape(2), size = rows * width;
  const bool margins = sums.shape(0) == 3;
  auto* joint = sums.data();
  pair_sums(Codes<Code>{codes.data(), rows, codes.shape(1), clusters.data()}, term, threads,
            PairSums<typename Term::Sum>{begin, begin + width, joint, margins ? joint + size : nullptr,
                                         margins ? joint + 2 * size : nullptr, margins ? known.data() : nullptr});
}

template <class Code>
void bind_pair_sums(nb::module_& m) {
  define(m, "pair_sums", [](const In<Code, 2>& codes, const In<std::int32_t, 1>& clusters, std::size_t begin,
                        const Out<std::uint64_t, 3>& squares, const Out<std::int64_t, 2>& known, int threads) {
    nb::gil_scoped_release free;
    fill_pair_sums(codes, clusters, begin, Square{}, squares, known, threads);
  });
  define(m, "pair_sums", [](const In<Code, 2>& codes, const In<std::int32_t, 1>& clusters, std::size_t begin,
                        const Out<double, 3>& xlogx, const Out<std::int64_t, 2>& known, int threads) {
    nb::gil_scoped_release free;
    const XLogX phi(codes.shape(1));
    fill_pair_sums(codes, clusters, begin, XLogXTerm{phi}, xlogx, known, threads);
  });
}

// `known` is empty where no label is missing.
template <class Code>
void bind_overlaps(nb::module_& m) {
  define(m, "expected_sums", [](const In<Code, 2>& codes, const In<std::int32_t, 1>& clusters, std::size_t begin,
                                const Out<double, 2>& sums, int threads) {
    nb::gil_scoped_release free;
    expected_sums(Codes<Code>{codes.data(), sums.shape(0), codes.shape(1), clusters.data()}, begin, begin + sums.shape(1),
                  threads, sums.data());
  });
  define(m, "overlap_sums", [](const In<Code, 2>& codes, const In<std::int32_t, 1>& clusters, std::size_t begin,
                               const Out<double, 2>& sums, const Out<std::int64_t, 2>& known, int threads) {
    nb::gil_scoped_release free;
    overlap_sums(Codes<Code>{codes.data(), sums.shape(0), codes.shape(1), clusters.data()}, begin, begin + sums.shape(1),
                 threads, sums.data(), given(known));
  });
  define(m, "object_overlaps", [](const In<Code, 2>& codes, const In<std::int32_t, 1>& clusters, std::size_t begin,
                                  std::size_t end, const Out<double, 1>& total, int threads) {
    nb::gil_scoped_release free;
    object_overlaps(Codes<Code>{codes.data(), codes.shape(0), codes.shape(1), clusters.data()}, begin, end, threads,
                    total.data());
  });
}

// `value` is empty where every entry has its row's weight, `group` where columns are not grouped. Returns (objective
// before, after, moves).
template <class Count>
void bind_sweep(nb::module_& m) {
  define(m, "sweep", [](const In<std::int64_t, 1>& start, const In<std::int32_t, 1>& column, const In<Count, 1>& value,
                        const In<Count, 1>& weight, const In<std::int32_t, 1>& view_of, const In<double, 1>& scale,
                        const In<std::int32_t, 2>& group, const Out<std::int32_t, 1>& labels,
                        const In<std::int64_t, 1>& order, const SweepOptions& options) {
    SweepResult result;
    {
      nb::gil_scoped_release free;
      const Rows<Count> rows{weight.size(), view_of.size(), scale.size(), start.data(), column.data(), given(value),
                             weight.data(), view_of.data(), scale.data(), given(group), group.shape(1)};
      result = Sweep<Count>(rows, options, labels.data()).run(order.data(), order.size());
    }
    return std::make_tuple(result.before, result.after, result.moves);
  });
  // The rows of one view, summed by its `groups` columns; returns their entries.
  define(m, "sum_rows", [](const In<std::int64_t, 1>& start, const In<std::int32_t, 1>& column, const In<Count, 1>& value,
                           const In<Count, 1>& weight, const In<std::int32_t, 1>& group, std::size_t groups,
                           const Out<std::int64_t, 1>& new_start, const Out<std::int32_t, 1>& new_column,
                           const Out<Count, 1>& new_value) {
    nb::gil_scoped_release free;
    const Rows<Count> rows{weight.size(), groups,  1,       start.data(),  column.data(), given(value),
                           weight.data(), nullptr, nullptr, group.data(), group.size()};
    return sum_rows(rows, new_start.data(), new_column.data(), new_value.data());
  });
}

// weights is empty where all are 1; starts is empty unless init says that they are given, runs x most clusters.
template <class Scores>
void run_lloyd(const typename Scores::Table& table, const In<std::int32_t, 1>& clusters,
               const In<std::uint64_t, 1>& units, const In<double, 2>& weights, const In<std::int64_t, 2>& starts,
               int init, int max_iter, std::uint64_t seed, int threads, const Out<std::int32_t, 2>& labels,
               const Out<double, 2>& scores, const Out<std::int32_t, 1>& steps) {
  std::vector<kmeans::LloydRun> runs(clusters.size());
  std::vector<kmeans::LloydResult> results(runs.size());
  for (std::size_t r = 0; r < runs.size(); ++r)
    runs[r] = {std::size_t(clusters.data()[r]), units.data()[r],
               weights.size() ? weights.data() + r * weights.shape(1) : nullptr,
               starts.size() ? starts.data() + r * starts.shape(1) : nullptr};
  kmeans::lloyd<Scores>(table, kmeans::LloydOptions{kmeans::Init(init), max_iter, seed}, runs, threads, labels.data(), results.data());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    scores.data()[2 * r] = results[r].inertia;
    scores.data()[2 * r + 1] = results[r].seconds;
    steps.data()[r] = results[r].steps;
  }
}

// `weights` is empty where every row counts 1.
template <class Count, class Label>
void bind_label_tables(nb::module_& m) {
  define(m, "label_tables", [](const In<Label, 2>& columns, const In<std::int64_t, 1>& offset,
                               const In<std::int32_t, 1>& clusters, const In<Count, 1>& weights,
                               const Out<Count, 2>& table, int threads) {
    nb::gil_scoped_release free;
    label_tables<Count>(columns.data(), columns.shape(1), columns.shape(0), offset.data(), clusters.data(),
                        given(weights), table.shape(1), threads, table.data());
  });
}

template <class Label>
void bind_labels(nb::module_& m) {
  bind_label_tables<std::int64_t, Label>(m);
  bind_label_tables<double, Label>(m);
  define(m, "label_votes", [](const In<Label, 2>& columns, const In<std::int64_t, 1>& offset,
                              const In<std::int32_t, 1>& owner, const Out<std::int32_t, 2>& votes, int threads) {
    nb::gil_scoped_release free;
    label_votes(columns.data(), columns.shape(1), columns.shape(0), offset.data(), owner.data(), votes.shape(1), threads,
                votes.data());
  });
  define(m, "column_scores", [](const In<Label, 2>& columns, const In<std::int64_t, 1>& offset, const In<double, 2>& table,
                                const Out<double, 2>& scores, int threads) {
    nb::gil_scoped_release free;
    column_scores(columns.data(), columns.shape(1), columns.shape(0), offset.data(), table.data(), table.shape(1), threads,
                  scores.data());
  });
}

template <class T, class Draw, class... A>
void bind_draws(nb::module_& m, const char* name, T (Draw::*)(Stream&, A...) const, const Draw& draw) {
  define(m, name, [draw](std::uint64_t seed, std::uint64_t unit, A... limits, const Out<T, 1>& out) {
    nb::gil_scoped_release free;
    Stream stream(seed, unit);
    for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = draw(stream, limits...);
  });
}
template <class T, class Draw>
void bind_draws(nb::module_& m, const char* name, const Draw& draw) {
  bind_draws<T>(m, name, &Draw::operator(), draw);
}

}  // namespace

NB_MODULE(_native, m) {
  bind_contingency<std::int64_t>(m);
  bind_contingency<double>(m);
  bind_pair_sums<std::uint8_t>(m);
  bind_pair_sums<std::uint16_t>(m);
  bind_pair_sums<std::uint32_t>(m);
  bind_overlaps<std::uint8_t>(m);
  bind_overlaps<std::uint16_t>(m);
  bind_overlaps<std::uint32_t>(m);
  define(m, "expected_xlogx", [](std::int64_t n, const In<std::int64_t, 1>& own, const In<std::int64_t, 1>& other,
                                 const Out<double, 2>& table, int threads) {
    nb::gil_scoped_release free;
    expected_table(n, own.data(), own.size(), other.data(), other.size(), threads, table.data());
  });

  nb::enum_<Objective>(m, "Objective")
      .value("shannon", Objective::kShannon)
      .value("quadratic", Objective::kQuadratic)
      .value("normalized", Objective::kNormalized);
  nb::class_<SweepOptions>(m, "SweepOptions")
      .def(nb::init<>())
      .def_rw("clusters", &SweepOptions::clusters)
      .def_rw("objective", &SweepOptions::objective)
      .def_rw("temperature", &SweepOptions::temperature)
      .def_rw("capacity", &SweepOptions::capacity)
      .def_rw("keep_clusters", &SweepOptions::keep_clusters)
      .def_rw("shortlist", &SweepOptions::shortlist)
      .def_rw("seed", &SweepOptions::seed)
      .def_rw("unit", &SweepOptions::unit)
      .def_rw("block", &SweepOptions::block)
      .def_rw("threads", &SweepOptions::threads)
      .def_rw("fixed", &SweepOptions::fixed);
  bind_sweep<std::int64_t>(m);
  bind_sweep<double>(m);

  // `order` is empty for greedy merges. Returns the number of clusters left.
  define(m, "merge_clusters", [](const In<double, 2>& table, const In<std::int64_t, 1>& order, std::size_t merges,
                                 const Out<std::int32_t, 1>& labels) {
    nb::gil_scoped_release free;
    Merger merger(table.data(), table.shape(0), table.shape(1));
    if (order.size())
      merger.nearest(order.data(), merges);
    else
      merger.greedy(merges);
    return merger.labels(labels.data());
  });

  // `value` is empty where every entry has its item's weight. Returns the number of moves, and the sum.
  define(m, "allocate", [](const In<std::int64_t, 1>& start, const In<std::int32_t, 1>& column, const In<std::int32_t, 1>& value,
                           const In<std::int32_t, 1>& weight, const In<double, 1>& scale, const Out<std::int32_t, 1>& labels,
                           const In<std::int64_t, 1>& order, bool square, std::size_t limit, std::size_t passes, std::int64_t total) {
    nb::gil_scoped_release free;
    const Items items{weight.size(), scale.size(), start.data(), column.data(), given(value), weight.data(), scale.data()};
    Allocator allocator(items, square, limit, total, labels.data());
    const std::int64_t moves = allocator.run(order.data(), order.size(), passes);
    return std::make_pair(moves, allocator.value());
  });

  // Rows are bytes; `inverse` is empty where nobody asks for it.
  define(m, "signatures", [](const In<std::uint8_t, 2>& rows, const Out<std::int64_t, 1>& inverse) {
    Signatures s;
    {
      nb::gil_scoped_release free;
      s.collapse(rows.data(), rows.shape(0), rows.shape(1), inverse.size() == 0 ? nullptr : inverse.data());
    }
    return std::make_pair(hand_over(std::move(s.first)), hand_over(std::move(s.count)));
  });

  define(m, "slots_of", [](const In<std::uint8_t, 2>& rows) {
    std::vector<std::uint32_t> slots;
    {
      nb::gil_scoped_release free;
      slots = slots_of(rows.data(), rows.shape(0), rows.shape(1));
    }
    return hand_over(std::move(slots));
  });

  define(m, "find_rows", [](const In<std::uint8_t, 2>& rows, const In<std::uint32_t, 1>& slots,
                            const In<std::uint8_t, 2>& wanted, const Out<std::int64_t, 1>& found) {
    nb::gil_scoped_release free;
    find_rows(rows.data(), slots.data(), slots.size(), wanted.data(), wanted.shape(0), wanted.shape(1), found.data());
  });

  define(m, "color_rows", [](const In<std::int32_t, 2>& labels, const In<std::int64_t, 1>& offset,
                             const In<std::uint64_t, 1>& color, const In<std::uint64_t, 1>& own,
                             const Out<std::uint64_t, 1>& rows, const Out<std::uint64_t, 1>& sums) {
    nb::gil_scoped_release free;
    color_rows(labels.data(), labels.shape(0), labels.shape(1), offset.data(), color.data(), own.data(), rows.data(),
               sums.data());
  });

  bind_labels<std::uint8_t>(m);
  bind_labels<std::uint16_t>(m);
  bind_labels<std::int32_t>(m);

  define(m, "row_distances", [](const In<std::int32_t, 2>& columns, const In<std::int64_t, 1>& offset,
                                const In<double, 1>& weight, bool missing, const Out<double, 2>& distance) {
    nb::gil_scoped_release free;
    row_distances(columns.data(), columns.shape(1), columns.shape(0), offset.data(), weight.data(), missing,
                  distance.data());
  });
  define(m, "linkage", [](const Out<double, 2>& distance, const In<double, 1>& weight, int kind, double tie,
                          const Out<std::int64_t, 2>& merges, const Out<double, 1>& heights) {
    nb::gil_scoped_release free;
    Tree(distance.data(), weight.size(), weight.data(), Linkage(kind)).build(tie, merges.data(), heights.data());
  });

  // `core` is empty where points are as far apart as their distance says.
  define(m, "spanning_tree", [](const In<double, 2>& points, const In<double, 1>& core, const Out<std::int64_t, 2>& edges,
                                const Out<double, 1>& lengths) {
    nb::gil_scoped_release free;
    spanning_tree(points.data(), given(core), points.shape(0), points.shape(1), edges.data(), lengths.data());
  });
  define(m, "genie_merges", [](const In<std::int64_t, 2>& edges, double gini, const Out<std::int64_t, 2>& merges) {
    nb::gil_scoped_release free;
    genie_merges(edges.data(), edges.shape(0) + 1, gini, merges.data());
  });

  define(m, "row_scores", [](const In<std::int32_t, 2>& labels, const In<std::int64_t, 1>& offset,
                             const In<double, 2>& table, const Out<double, 2>& scores, int threads) {
    nb::gil_scoped_release free;
    row_scores(labels.data(), labels.shape(0), labels.shape(1), offset.data(), table.data(), table.shape(1), threads,
               scores.data());
  });

  define(m, "gibbs_sweep", [](const In<std::int32_t, 2>& labels, const In<std::int64_t, 1>& offset,
                              const Out<std::int32_t, 1>& cluster, bool sticks, double alpha, double beta, double power,
                              std::size_t moves, std::uint64_t seed, std::uint64_t unit,
                              const Out<std::int64_t, 2>& table, const Out<std::int64_t, 1>& size) {
    nb::gil_scoped_release free;
    const MixtureRows rows{labels.shape(0), labels.shape(1), labels.data(), offset.data()};
    Gibbs gibbs(rows, MixturePrior{size.size(), sticks, alpha, beta, power}, cluster.data());
    gibbs.sweep(seed, unit, moves);
    gibbs.counts(table.data(), size.data());
  });
  define(m, "gibbs_conditionals", [](const In<std::int32_t, 2>& labels, const In<std::int64_t, 1>& offset,
                                     const Out<std::int32_t, 1>& cluster, bool sticks, double alpha, double beta,
                                     double power, const Out<double, 2>& probability) {
    nb::gil_scoped_release free;
    const MixtureRows rows{labels.shape(0), labels.shape(1), labels.data(), offset.data()};
    Gibbs gibbs(rows, MixturePrior{probability.shape(1), sticks, alpha, beta, power}, cluster.data());
    for (std::size_t i = 0; i < rows.n; ++i) gibbs.conditional(i, probability.data() + i * probability.shape(1));
  });

  define(m, "within_sums", [](const In<double, 2>& block, std::size_t begin, const In<std::int32_t, 2>& labels,
                          const Out<double, 2>& sums, int threads) {
    nb::gil_scoped_release free;
    within_sums(block.data(), block.shape(0), block.shape(1), begin, labels.data(), labels.shape(0), labels.shape(1),
                sums.shape(1), threads, sums.data());
  });

  define(m, "lloyd", [](const In<double, 2>& X, const In<std::int32_t, 1>& clusters, const In<std::uint64_t, 1>& units,
                        const In<double, 2>& weights, const In<std::int64_t, 2>& starts, int init, int max_iter,
                        std::uint64_t seed, int threads, const Out<std::int32_t, 2>& labels, const Out<double, 2>& scores,
                        const Out<std::int32_t, 1>& steps) {
    nb::gil_scoped_release free;
    const kmeans::DenseTable table(X.data(), X.shape(0), X.shape(1));
    run_lloyd<kmeans::DenseScores>(table, clusters, units, weights, starts, init, max_iter, seed, threads, labels, scores, steps);
  });
  define(m, "lloyd", [](const In<std::int64_t, 1>& start, const In<std::int32_t, 1>& column, const In<double, 1>& value,
                        std::size_t columns, const In<std::int32_t, 1>& clusters, const In<std::uint64_t, 1>& units,
                        const In<double, 2>& weights, const In<std::int64_t, 2>& starts, int init, int max_iter,
                        std::uint64_t seed, int threads, const Out<std::int32_t, 2>& labels, const Out<double, 2>& scores,
                        const Out<std::int32_t, 1>& steps) {
    nb::gil_scoped_release free;
    const kmeans::SparseTable table(start.data(), column.data(), value.data(), start.size() - 1, columns);
    run_lloyd<kmeans::SparseScores>(table, clusters, units, weights, starts, init, max_iter, seed, threads, labels, scores, steps);
  });

  define(m, "xlogx", [](const In<std::uint64_t, 1>& x, std::uint64_t limit, const Out<double, 1>& value,
                    const Out<double, 1>& rise) {
    nb::gil_scoped_release free;
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, x.data()[i]);
    const XLogX phi(largest, limit);
    for (std::size_t i = 0; i < x.size(); ++i) {
      value.data()[i] = phi(x.data()[i]);
      rise.data()[i] = phi.rise(x.data()[i]);
    }
  });

  bind_draws<std::uint64_t>(m, "random_bits", [](Stream& stream) { return stream.bits(); });
  bind_draws<double>(m, "random_uniform", [](Stream& stream) { return stream.uniform(); });
  bind_draws<std::uint64_t>(m, "random_below", [](Stream& stream, std::uint64_t n) { return stream.below(n); });
  define(m, "random_permutation", [](std::uint64_t seed, std::uint64_t unit, const Out<std::int64_t, 1>& out) {
    nb::gil_scoped_release free;
    Stream stream(seed, unit);
    for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = std::int64_t(i);
    stream.shuffle(out.data(), out.size());
  });
  m.def("has_avx2", &has_avx2);
}
