// SPDX-License-Identifier: Apache-2.0
// How the dense pieces of a supernodal factor lie in memory.
//
// A supernode has k columns and u rows below them. Its part of L, the panel, is cut into stripes of `stripe` rows, and
// each stripe is stored column after column:
//
//        columns →                      stripe j of the triangle has its own columns only, up to stripe·(j + 1);
//   [ \          ]  triangle, k rows    stripes below the triangle have all k columns.
//   [ - \        ]                      Element (r, c) is stripe_begin + c·stripe + r mod stripe.
//   [ - - \      ]
//   [ ---------- ]  below, u rows       Rows are padded with zeros up to a whole stripe, in both parts.
//   [ ---------- ]
//
// The order of a stripe is just what the inner kernel of a matrix product reads, on either side of the product, so
// that no panel is ever repacked, and solves stream through L from one end to the other.
//
// The update matrix (u × u, symmetric) that a supernode hands to its parent keeps the lower triangle only, in block
// columns of `stripe` columns: block column j holds rows stripe·j … end, column after column.
#pragma once

#include "supple/base/types.h"

namespace supple {

/// Numbers in one SIMD register, registers in one column of a stripe, and columns that one inner kernel makes at once:
/// 12 × 4 sums fill the 16 registers of AVX2, 24 × 8 the 32 of AVX-512.
inline constexpr int stripe_lanes = Eigen::internal::packet_traits<double>::size;
inline constexpr int stripe_packets = stripe_lanes == 8 ? 3 : 12 / stripe_lanes;
inline constexpr int kernel_columns = stripe_lanes;
inline constexpr int stripe = stripe_lanes * stripe_packets;

inline std::int64_t stripes_of(std::int64_t rows) { return (rows + stripe - 1) / stripe; }

/// How a panel of k columns, with u rows below its triangle, lies in memory.
struct PanelShape {
  std::int64_t k = 0;
  std::int64_t u = 0;

  std::int64_t triangle_stripes() const { return stripes_of(k); }
  std::int64_t below_stripes() const { return stripes_of(u); }
  std::int64_t triangle_stripe(std::int64_t j) const { return stripe * stripe * (j * (j + 1) / 2); }
  std::int64_t triangle_size() const { return k == 0 ? 0 : triangle_stripe(triangle_stripes() - 1) + stripe * k; }
  std::int64_t below_stripe(std::int64_t i) const { return triangle_size() + i * stripe * k; }
  std::int64_t size() const { return below_stripe(below_stripes()); }

  /// Offset of element (row, 0); rows k … k + u - 1 are those below the triangle.
  std::int64_t row(std::int64_t r) const {
    if (r < k) return triangle_stripe(r / stripe) + r % stripe;
    return below_stripe((r - k) / stripe) + (r - k) % stripe;
  }
};

/// How an update matrix of u rows and columns lies in memory.
struct UpdateShape {
  std::int64_t u = 0;

  std::int64_t stripes() const { return stripes_of(u); }
  std::int64_t leading(std::int64_t j) const { return stripe * (stripes() - j); }
  std::int64_t block_column(std::int64_t j) const { return stripe * stripe * (j * stripes() - j * (j - 1) / 2); }
  std::int64_t size() const { return block_column(stripes()); }

  /// Gives the place where row 0 of a column would lie. Only rows from stripe·(column / stripe) on exist.
  std::int64_t column(std::int64_t c) const {
    const std::int64_t j = c / stripe;
    return block_column(j) + (c - j * stripe) * leading(j) - j * stripe;
  }
};

}  // namespace supple
