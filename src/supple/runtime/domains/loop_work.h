// SPDX-License-Identifier: Apache-2.0
// LoopWork: what a step knows of the loops of a tree while it closes them (domain_closures.cpp), made once.
//
// Every row is one way in which the two sites of a closure may not move apart: three along the axes of the world and,
// unless it may turn, three about them. With e the opening, the tree answers forces λ between its sites by
//   ë = ë_free + W λ      W = J A⁻¹ Jᵀ
// where A is the system of the whole tree, stiffness included. W comes from the passes of a step along the paths from
// the sites to the root alone: unit forces up, accelerations down. Newmark's scheme then makes of λ = −(e + τ ė) /
// give, taken where the forces of the step balance,
//   (give + β' W) λ = −(e + τ ė)_predicted − β' ë_free
// which holds for give = 0 as well: the sites are one.
#pragma once

#include "supple/runtime/domains/prepared_tree.h"

namespace supple {

struct LoopRow {
  std::size_t closure = 0;
  int way = 0;      ///< 0 to 2: along an axis of the world, 3 to 5: about one
  double give = 0;  ///< [m/N], or [rad/(N m)]
};

struct LoopWork {
  explicit LoopWork(const PreparedTree& tree);

  std::size_t columns() const { return rows.size() + 1; }
  /// Six numbers for each column, of a domain on a path.
  double* of_frame(std::vector<double>& values, std::size_t place) const {
    return values.data() + 6 * columns() * place;
  }
  /// A number for each column, of a coordinate of such a domain.
  double* of_coordinate(std::vector<double>& values, std::size_t coordinate) const {
    return values.data() + columns() * coordinate;
  }

  std::vector<LoopRow> rows;
  std::vector<std::size_t> first_coordinate;  ///< of each domain on a path, among those of all of them
  std::vector<std::size_t> first_jacobian;    ///< likewise, among the coordinates of their parents
  std::vector<double> factor;                 ///< L of their systems, by pairs, with inverse pivots
  std::vector<double> jacobian;               ///< of their interfaces, six numbers for each coordinate of the parent
  std::vector<double> push, answer, rate;     ///< of coordinates: forces, S⁻¹ times these, accelerations
  std::vector<double> wrench, motion;         ///< of frames: what they feel, and their accelerations
  std::vector<double> relative;               ///< ë of each row and column
  std::vector<double> system, force;          ///< of the rows
  std::vector<double> parting, parting_new;   ///< ë of each row in the last step, and in this one
};

}  // namespace supple
