// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/front_kernels.h"

#include "supple/base/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace supple {
namespace {

using std::int64_t;
using Packet = Eigen::internal::packet_traits<double>::type;
using Eigen::internal::padd;
using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pmul;
using Eigen::internal::pnegate;
using Eigen::internal::predux;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;
using Eigen::internal::psub;

/// Depth of one pass of products, in stripes: two stripes of this depth share a first-level cache of 32 kB, a square of
/// such stripes fits three times into a second-level cache of 512 kB.
constexpr int64_t depth_stripes = stripe == 12 ? 10 : 5;
constexpr int64_t depth_columns = depth_stripes * stripe;

/// Sums of an inner kernel: `stripe` rows × kernel_columns columns, held in registers.
struct Sums {
  Packet at[kernel_columns][stripe_packets];
};

EIGEN_ALWAYS_INLINE Sums no_sums() {
  Sums sums;
  for (int c = 0; c < kernel_columns; ++c)
    for (int p = 0; p < stripe_packets; ++p) sums.at[c][p] = pset1<Packet>(0.0);
  return sums;
}

/// sums += Σ_d a(row, d) b(d, column), where a is a stripe and b(d, c) = b[d·depth_step + c·column_step].
EIGEN_ALWAYS_INLINE void add_product(Sums& sums, const double* a, const double* b, int64_t depth, int64_t depth_step,
                                     int64_t column_step) {
  for (int64_t d = 0; d < depth; ++d, a += stripe, b += depth_step) {
    Packet left[stripe_packets];
    for (int p = 0; p < stripe_packets; ++p) left[p] = ploadu<Packet>(a + p * stripe_lanes);
    for (int c = 0; c < kernel_columns; ++c) {
      const Packet right = pset1<Packet>(b[c * column_step]);
      for (int p = 0; p < stripe_packets; ++p) sums.at[c][p] = pmadd(left[p], right, sums.at[c][p]);
    }
  }
}

template <bool Overwrite>
EIGEN_ALWAYS_INLINE void subtract_column(const Packet (&sum)[stripe_packets], double* column) {
  for (int p = 0; p < stripe_packets; ++p) {
    double* place = column + p * stripe_lanes;
    pstoreu(place, Overwrite ? pnegate(sum[p]) : psub(ploadu<Packet>(place), sum[p]));
  }
}

/// C -= A Bᵀ (or C = -A Bᵀ): A and B are stripes of `depth` columns; C has `stripe` rows and `columns` columns.
template <bool Overwrite>
void subtract_product(const double* a, const double* b, int64_t depth, double* c, int64_t leading, int64_t columns) {
  int64_t done = 0;
  for (; done + kernel_columns <= columns; done += kernel_columns) {
    Sums sums = no_sums();
    add_product(sums, a, b + done, depth, stripe, 1);
    for (int i = 0; i < kernel_columns; ++i) subtract_column<Overwrite>(sums.at[i], c + (done + i) * leading);
  }
  if (done == columns) return;
  Sums sums = no_sums();
  add_product(sums, a, b + done, depth, stripe, 1);
  for (int i = 0; i < columns - done; ++i) subtract_column<Overwrite>(sums.at[i], c + (done + i) * leading);
}

/// Cholesky factor of the leading width × width corner of a stripe × stripe square. Clears what is above the diagonal.
/// Returns the first column with too small a pivot, or -1.
int64_t factor_corner(double* corner, int64_t width, const double* smallest_pivots, double* inverse_diagonal) {
  for (int64_t c = 0; c < width; ++c) {
    double* column = corner + c * stripe;
    const double pivot = column[c];
    if (!(pivot > smallest_pivots[c]) || !std::isfinite(pivot)) return c;
    const double root = std::sqrt(pivot);
    inverse_diagonal[c] = 1.0 / root;
    std::fill(column, column + c, 0.0);
    column[c] = root;
    for (int64_t r = c + 1; r < stripe; ++r) column[r] *= inverse_diagonal[c];
    for (int64_t other = c + 1; other < width; ++other) {
      const Packet factor = pset1<Packet>(-column[other]);
      for (int p = 0; p < stripe_packets; ++p) {
        double* place = corner + other * stripe + p * stripe_lanes;
        pstoreu(place, pmadd(ploadu<Packet>(column + p * stripe_lanes), factor, ploadu<Packet>(place)));
      }
    }
  }
  return -1;
}

template <int Column, int... After>
EIGEN_ALWAYS_INLINE void eliminate_column(Packet (&x)[stripe], const double* corner, const double* inverse_diagonal,
                                          std::integer_sequence<int, After...>) {
  x[Column] = pmul(x[Column], pset1<Packet>(inverse_diagonal[Column]));
  [[maybe_unused]] const Packet minus = pnegate(x[Column]);
  ((x[Column + 1 + After] =
        pmadd(pset1<Packet>(corner[Column * stripe + Column + 1 + After]), minus, x[Column + 1 + After])),
   ...);
}

template <int... Columns>
EIGEN_ALWAYS_INLINE void eliminate_columns(Packet (&x)[stripe], const double* corner, const double* inverse_diagonal,
                                           std::integer_sequence<int, Columns...>) {
  (eliminate_column<Columns>(x, corner, inverse_diagonal, std::make_integer_sequence<int, stripe - 1 - Columns>()),
   ...);
}

/// X ← X L⁻ᵀ for the `stripe` rows of X and a whole corner L: all columns of one packet of rows stay in registers.
void solve_whole_corner(const double* corner, const double* inverse_diagonal, double* x) {
  for (int p = 0; p < stripe_packets; ++p) {
    Packet columns[stripe];
    for (int c = 0; c < stripe; ++c) columns[c] = ploadu<Packet>(x + c * stripe + p * stripe_lanes);
    eliminate_columns(columns, corner, inverse_diagonal, std::make_integer_sequence<int, stripe>());
    for (int c = 0; c < stripe; ++c) pstoreu(x + c * stripe + p * stripe_lanes, columns[c]);
  }
}

/// X ← X L⁻ᵀ for a corner L of any width.
void solve_corner(const double* corner, int64_t width, const double* inverse_diagonal, double* x) {
  if (width == stripe) return solve_whole_corner(corner, inverse_diagonal, x);
  for (int p = 0; p < stripe_packets; ++p) {
    for (int64_t c = 0; c < width; ++c) {
      double* place = x + c * stripe + p * stripe_lanes;
      const Packet value = pmul(ploadu<Packet>(place), pset1<Packet>(inverse_diagonal[c]));
      pstoreu(place, value);
      const Packet minus = pnegate(value);
      for (int64_t other = c + 1; other < width; ++other) {
        double* target = x + other * stripe + p * stripe_lanes;
        pstoreu(target, pmadd(pset1<Packet>(corner[c * stripe + other]), minus, ploadu<Packet>(target)));
      }
    }
  }
}

/// Stripes of a panel and the block of columns being eliminated: stripes [begin, end) of the triangle.
struct ColumnBlock {
  double* panel;
  const PanelShape& shape;
  int64_t begin = 0;
  int64_t end = 0;
  std::array<double, depth_columns> inverse_diagonal{};

  const double* triangle(int64_t j) const { return panel + shape.triangle_stripe(j); }
  int64_t width(int64_t j) const { return std::min<int64_t>(stripe, shape.k - j * stripe); }
  double* row_stripe(int64_t i) const {
    const int64_t in_triangle = shape.triangle_stripes();
    return panel + (i < in_triangle ? shape.triangle_stripe(i) : shape.below_stripe(i - in_triangle));
  }
};

/// What columns before `j`, from the start of the block, take away from columns j of a row stripe.
void apply_block_columns(const ColumnBlock& block, double* row, int64_t j) {
  const int64_t first = block.begin * stripe * stripe;
  subtract_product<false>(row + first, block.triangle(j) + first, (j - block.begin) * stripe, row + j * stripe * stripe,
                          stripe, block.width(j));
}

/// Columns of the block in a row stripe below stripe `end` of the triangle.
void solve_row_stripe(const ColumnBlock& block, double* row, int64_t end) {
  for (int64_t j = block.begin; j < end; ++j) {
    if (j > block.begin) apply_block_columns(block, row, j);
    solve_corner(block.triangle(j) + j * stripe * stripe, block.width(j),
                 block.inverse_diagonal.data() + (j - block.begin) * stripe, row + j * stripe * stripe);
  }
}

int64_t factor_block_triangle(ColumnBlock& block, const double* smallest_pivots) {
  for (int64_t j = block.begin; j < block.end; ++j) {
    double* row = block.row_stripe(j);
    solve_row_stripe(block, row, j);
    if (j > block.begin) apply_block_columns(block, row, j);
    const int64_t failed = factor_corner(row + j * stripe * stripe, block.width(j), smallest_pivots + j * stripe,
                                         block.inverse_diagonal.data() + (j - block.begin) * stripe);
    if (failed >= 0) return j * stripe + failed;
  }
  return -1;
}

/// What the block takes away from the later columns of a row stripe (stripe number i of the whole panel).
void apply_block(const ColumnBlock& block, int64_t i) {
  double* row = block.row_stripe(i);
  const int64_t first = block.begin * stripe * stripe;
  const int64_t last = std::min(i + 1, block.shape.triangle_stripes());
  for (int64_t j = block.end; j < last; ++j)
    subtract_product<false>(row + first, block.triangle(j) + first, (block.end - block.begin) * stripe,
                            row + j * stripe * stripe, stripe, block.width(j));
}

template <class Body>
void maybe_parallel(bool parallel, int64_t count, int64_t grain, const Body& body) {
  if (parallel) {
    parallel_for(count, grain, body);
  } else {
    for (int64_t i = 0; i < count; ++i) body(i);
  }
}

/// One square of the update matrix: row stripes from `row`, column stripes from `column`, depth_stripes of each.
void form_update_tile(const double* panel, const PanelShape& shape, double* update, int64_t row, int64_t column) {
  const UpdateShape target{shape.u};
  const int64_t row_end = std::min(row + depth_stripes, target.stripes());
  const int64_t column_end = std::min(column + depth_stripes, target.stripes());
  for (int64_t d = 0; d < shape.k; d += depth_columns) {
    const int64_t depth = std::min(depth_columns, shape.k - d);
    for (int64_t j = column; j < column_end; ++j) {
      const double* right = panel + shape.below_stripe(j) + d * stripe;
      double* block_column = update + target.block_column(j);
      for (int64_t i = std::max(row, j); i < row_end; ++i) {
        const double* left = panel + shape.below_stripe(i) + d * stripe;
        double* c = block_column + (i - j) * stripe;
        if (d == 0) {
          subtract_product<true>(left, right, depth, c, target.leading(j), stripe);
        } else {
          subtract_product<false>(left, right, depth, c, target.leading(j), stripe);
        }
      }
    }
  }
}

}  // namespace

std::int64_t factor_panel(double* panel, const PanelShape& shape, const double* smallest_pivots, bool parallel) {
  const int64_t triangle = shape.triangle_stripes();
  const int64_t all = triangle + shape.below_stripes();
  for (int64_t begin = 0; begin < triangle; begin += depth_stripes) {
    ColumnBlock block{panel, shape, begin, std::min(begin + depth_stripes, triangle)};
    const int64_t failed = factor_block_triangle(block, smallest_pivots);
    if (failed >= 0) return failed;
    maybe_parallel(parallel, all - block.end, 8,
                   [&](int64_t i) { solve_row_stripe(block, block.row_stripe(block.end + i), block.end); });
    if (block.end < triangle)
      maybe_parallel(parallel, all - block.end, 4, [&](int64_t i) { apply_block(block, block.end + i); });
  }
  return -1;
}

void form_update(const double* panel, const PanelShape& shape, double* update, bool parallel) {
  const int64_t tiles = (stripes_of(shape.u) + depth_stripes - 1) / depth_stripes;
  maybe_parallel(parallel, tiles * tiles, 1, [&](int64_t tile) {
    const int64_t i = tile / tiles, j = tile % tiles;
    if (i >= j) form_update_tile(panel, shape, update, i * depth_stripes, j * depth_stripes);
  });
}

void forward_many(const double* panel, const PanelShape& shape, double* x, double* below) {
  for (int64_t j = 0; j < shape.triangle_stripes(); ++j) {
    const double* row = panel + shape.triangle_stripe(j);
    const int64_t first = j * stripe, width = std::min<int64_t>(stripe, shape.k - first);
    if (j > 0) subtract_product<false>(x, row, first, x + first * stripe, stripe, width);
    double inverse_diagonal[stripe];
    for (int64_t c = 0; c < width; ++c) inverse_diagonal[c] = 1.0 / row[(first + c) * stripe + c];
    solve_corner(row + first * stripe, width, inverse_diagonal, x + first * stripe);
  }
  for (int64_t d = 0; d < shape.k; d += depth_columns) {
    const int64_t depth = std::min(depth_columns, shape.k - d);
    for (int64_t i = 0; i < shape.below_stripes(); ++i)
      subtract_product<false>(x + d * stripe, panel + shape.below_stripe(i) + d * stripe, depth,
                              below + i * stripe * stripe, stripe, stripe);
  }
}

namespace {

/// x(:, c) -= Σ_r rows(:, r) L(r, c) for the first `columns` columns of `count` stripes of L, `step` apart.
void subtract_transposed(const double* rows, const double* l, int64_t count, int64_t step, int64_t columns, double* x) {
  int64_t done = 0;
  for (; done + kernel_columns <= columns; done += kernel_columns) {
    Sums sums = no_sums();
    for (int64_t i = 0; i < count; ++i)
      add_product(sums, rows + i * stripe * stripe, l + i * step + done * stripe, stripe, 1, stripe);
    for (int i = 0; i < kernel_columns; ++i) subtract_column<false>(sums.at[i], x + (done + i) * stripe);
  }
  for (; done < columns; ++done) {
    for (int64_t r = 0; r < count * stripe; ++r) {
      const double factor = l[r / stripe * step + done * stripe + r % stripe];
      for (int i = 0; i < stripe; ++i) x[done * stripe + i] -= rows[r * stripe + i] * factor;
    }
  }
}

/// Solves Lᵀ Y = X in place for a corner L; a column of the corner serves one row of X.
void solve_corner_transposed(const double* corner, int64_t width, double* x) {
  for (int64_t c = width - 1; c >= 0; --c) {
    double* row = x + c * stripe;
    for (int64_t r = c + 1; r < width; ++r) {
      const double factor = corner[c * stripe + r];
      for (int i = 0; i < stripe; ++i) row[i] -= factor * x[r * stripe + i];
    }
    const double inverse = 1.0 / corner[c * stripe + c];
    for (int i = 0; i < stripe; ++i) row[i] *= inverse;
  }
}

/// Σ_c L(:, c) x(c) over the first `columns` columns of a stripe, taken from `result`.
void subtract_times(const double* l, int64_t columns, const double* x, double* result) {
  Packet sum[stripe_packets];
  for (int p = 0; p < stripe_packets; ++p) sum[p] = pset1<Packet>(0.0);
  for (int64_t c = 0; c < columns; ++c, l += stripe) {
    const Packet factor = pset1<Packet>(x[c]);
    for (int p = 0; p < stripe_packets; ++p) sum[p] = pmadd(ploadu<Packet>(l + p * stripe_lanes), factor, sum[p]);
  }
  subtract_column<false>(sum, result);
}

/// Adds L(:, c)ᵀ rows to the packet of partial sums of each column c.
void add_transposed_times(const double* l, int64_t columns, const double* rows, double* sums) {
  Packet factor[stripe_packets];
  for (int p = 0; p < stripe_packets; ++p) factor[p] = ploadu<Packet>(rows + p * stripe_lanes);
  for (int64_t c = 0; c < columns; ++c, l += stripe, sums += stripe_lanes) {
    Packet sum = ploadu<Packet>(sums);
    for (int p = 0; p < stripe_packets; ++p) sum = pmadd(ploadu<Packet>(l + p * stripe_lanes), factor[p], sum);
    pstoreu(sums, sum);
  }
}

}  // namespace

void backward_many(const double* panel, const PanelShape& shape, double* x, const double* below) {
  for (int64_t i = 0; i < shape.below_stripes(); i += depth_stripes)
    subtract_transposed(below + i * stripe * stripe, panel + shape.below_stripe(i),
                        std::min(depth_stripes, shape.below_stripes() - i), stripe * shape.k, shape.k, x);
  double rows[stripe * stripe] = {};
  for (int64_t j = shape.triangle_stripes() - 1; j >= 0; --j) {
    const double* row = panel + shape.triangle_stripe(j);
    const int64_t first = j * stripe, width = std::min<int64_t>(stripe, shape.k - first);
    solve_corner_transposed(row + first * stripe, width, x + first * stripe);
    if (j == 0) break;
    std::copy_n(x + first * stripe, width * stripe, rows);
    std::fill(rows + width * stripe, rows + stripe * stripe, 0.0);
    subtract_transposed(rows, row, 1, 0, first, x);
  }
}

void forward_one(const double* panel, const PanelShape& shape, double* x, double* below) {
  double rows[stripe] = {};
  for (int64_t j = 0; j < shape.triangle_stripes(); ++j) {
    const double* l = panel + shape.triangle_stripe(j);
    const int64_t first = j * stripe, width = std::min<int64_t>(stripe, shape.k - first);
    std::copy_n(x + first, width, rows);
    if (j > 0) subtract_times(l, first, x, rows);
    for (int64_t c = 0; c < width; ++c) {
      const double* column = l + (first + c) * stripe;
      rows[c] /= column[c];
      for (int64_t r = c + 1; r < width; ++r) rows[r] -= column[r] * rows[c];
    }
    std::copy_n(rows, width, x + first);
  }
  for (int64_t i = 0; i < shape.below_stripes(); ++i)
    subtract_times(panel + shape.below_stripe(i), shape.k, x, below + i * stripe);
}

void backward_one(const double* panel, const PanelShape& shape, double* x, const double* below, double* sums) {
  std::fill(sums, sums + shape.k * stripe_lanes, 0.0);
  for (int64_t i = 0; i < shape.below_stripes(); ++i)
    add_transposed_times(panel + shape.below_stripe(i), shape.k, below + i * stripe, sums);
  for (int64_t j = shape.triangle_stripes() - 1; j >= 0; --j) {
    const double* l = panel + shape.triangle_stripe(j);
    const int64_t first = j * stripe, width = std::min<int64_t>(stripe, shape.k - first);
    double rows[stripe] = {};
    for (int64_t c = width - 1; c >= 0; --c) {
      const double* column = l + (first + c) * stripe;
      double value = x[first + c] - predux(ploadu<Packet>(sums + (first + c) * stripe_lanes));
      for (int64_t r = c + 1; r < width; ++r) value -= column[r] * rows[r];
      rows[c] = value / column[c];
    }
    std::copy_n(rows, width, x + first);
    if (j > 0) add_transposed_times(l, first, rows, sums);
  }
}

}  // namespace supple
