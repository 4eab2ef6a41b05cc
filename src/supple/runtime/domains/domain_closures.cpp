// SPDX-License-Identifier: Apache-2.0
// Closes the loops of a tree of domains within a step: see loop_work.h.
#include "supple/runtime/domains/domain_dynamics.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Mat3 lane_matrix(const Pack4* from, int lane) {
  Mat3 m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = from[3 * i + j][lane];
  return m;
}

Vec3 lane_vector(const Pack4* from, int lane) { return {from[0][lane], from[1][lane], from[2][lane]}; }

/// The shortest turn of a rotation, as a vector.
Vec3 turn_of(const Mat3& R) {
  Eigen::Quaterniond q(R);
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  const double sine = q.vec().norm();
  return sine > 1e-12 ? Vec3(2 * std::atan2(sine, q.w()) / sine * q.vec()) : Vec3(2 * q.vec());
}

/// x ← S⁻¹ x for `columns` of the `stride` numbers that each coordinate has.
void solve_factored(const double* L, int r, std::size_t columns, std::size_t stride, double* x) {
  const auto row_of = [L](int b) { return L + b * (b + 1) / 2; };
  for (int b = 0; b < r; ++b)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = x[to_size(b) * stride + c];
      for (int a = 0; a < b; ++a) sum -= row_of(b)[a] * x[to_size(a) * stride + c];
      x[to_size(b) * stride + c] = sum * row_of(b)[b];
    }
  for (int b = r - 1; b >= 0; --b)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = x[to_size(b) * stride + c];
      for (int a = b + 1; a < r; ++a) sum -= row_of(a)[b] * x[to_size(a) * stride + c];
      x[to_size(b) * stride + c] = sum * row_of(b)[b];
    }
}

/// Solves A x = b in place, A symmetric and not negative. What other rows have settled already gets nothing.
void solve_rows(double* A, std::size_t n, double* b) {
  constexpr double settled = 1e-10;
  for (std::size_t i = 0; i < n; ++i) {
    const double whole = A[i * n + i];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = A[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= A[i * n + k] * A[j * n + k];
      if (j < i)
        A[i * n + j] = sum * A[j * n + j];
      else
        A[i * n + i] = sum > settled * whole ? 1 / std::sqrt(sum) : 0.0;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= A[i * n + k] * b[k];
    b[i] *= A[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= A[k * n + i] * b[k];
    b[i] *= A[i * n + i];
  }
}

Vec3 column_of(const double* values, std::size_t columns, std::size_t c) {
  return {values[c], values[columns + c], values[2 * columns + c]};
}

void put_column(const Vec3& v, std::size_t columns, std::size_t c, double* values) {
  for (std::size_t i = 0; i < 3; ++i) values[i * columns + c] = v[static_cast<Eigen::Index>(i)];
}

}  // namespace

LoopWork::LoopWork(const PreparedTree& tree) {
  for (std::size_t k = 0; k < tree.closures.size(); ++k) {
    const PreparedClosure& closure = tree.closures[k];
    const double square = closure.radius * closure.radius;
    for (int way = 0; way < (square > 0 ? 6 : 3); ++way)
      rows.push_back({k, way, way < 3 ? closure.give : closure.give / square});
  }
  std::size_t coordinates = 0, of_parents = 0;
  for (const PathDomain& path : tree.paths) {
    first_coordinate.push_back(coordinates);
    first_jacobian.push_back(of_parents);
    coordinates += to_size(tree.part_of(to_size(path.domain)).r);
    if (path.domain > 0) of_parents += to_size(tree.group_of(tree.batches[path.batch]).parent_r);
  }
  factor.assign(tree.factors, 0.0);
  jacobian.assign(6 * of_parents, 0.0);
  for (auto* values : {&push, &answer, &rate}) values->assign(columns() * coordinates, 0.0);
  for (auto* values : {&wrench, &motion}) values->assign(6 * columns() * tree.paths.size(), 0.0);
  relative.assign(rows.size() * columns(), 0.0);
  system.assign(rows.size() * rows.size(), 0.0);
  for (auto* values : {&force, &parting, &parting_new}) values->assign(rows.size(), 0.0);
}

/// Keeps the factors of a batch whose domains lie between a site and the root.
void DomainDynamics::keep_factors(const DomainBatch& batch, int r, const Pack4* L) {
  for (int lane = 0; lane < batch.lanes; ++lane) {
    const std::size_t at = tree_->factor_of[to_size(batch.domain[to_size(lane)])];
    if (at == PreparedTree::none) continue;
    for (int p = 0; p < r * (r + 1) / 2; ++p) loops_->factor[at + to_size(p)] = L[p][lane];
  }
}

/// How two sites are apart: where the second is from the first, and by which turn.
void DomainDynamics::opening(std::size_t closure, Vec3& apart, Vec3& turned) const {
  const PreparedClosure& c = tree_->closures[closure];
  const auto frame_of = [&](std::size_t place) -> const FrameMotion& {
    return frames_[to_size(tree_->paths[place].domain)];
  };
  const FrameMotion &a = frame_of(c.first), &b = frame_of(c.second);
  const Mat3 R_a = Eigen::Map<const RowMajor3>(a.R);
  Mat3 R_b = Eigen::Map<const RowMajor3>(b.R);
  apart = Eigen::Map<const Vec3>(b.c) - Eigen::Map<const Vec3>(a.c);
  if (c.second == 0) {
    apart += R_b * c.anchor;
    R_b *= c.anchor_turn;
  }
  turned = turn_of(R_b * R_a.transpose());
}

double DomainDynamics::closure_energy() const {
  double energy = 0;
  for (std::size_t k = 0; k < tree_->closures.size(); ++k) {
    const PreparedClosure& closure = tree_->closures[k];
    if (!(closure.give > 0)) continue;
    Vec3 apart, turned;
    opening(k, apart, turned);
    energy += (apart.squaredNorm() + closure.radius * closure.radius * turned.squaredNorm()) / (2 * closure.give);
  }
  return energy;
}

/// Unit forces between the sites, from there to the root: what coordinates answer, and what is left for the root.
void DomainDynamics::push_sites() {
  LoopWork& work = *loops_;
  const std::size_t n = work.rows.size(), columns = work.columns();
  for (auto* values : {&work.push, &work.wrench}) std::fill(values->begin(), values->end(), 0.0);
  for (std::size_t row = 0; row < n; ++row) {
    const PreparedClosure& closure = tree_->closures[work.rows[row].closure];
    const int way = work.rows[row].way;
    for (const auto& [place, sign] : {std::pair(closure.first, 1.0), std::pair(closure.second, -1.0)}) {
      if (place == 0) continue;  // the ground
      const FrameMotion& frame = frames_[to_size(tree_->paths[place].domain)];
      double* wrench = work.of_frame(work.wrench, place) + (way < 3 ? 0 : 3) * columns;
      for (std::size_t i = 0; i < 3; ++i)
        wrench[i * columns + row] = sign * frame.R[3 * (way % 3) + static_cast<int>(i)];
    }
  }
  for (std::size_t place = tree_->paths.size(); place-- > 0;) {
    const PathDomain& path = tree_->paths[place];
    const DomainBatch& batch = tree_->batches[path.batch];
    const int r = tree_->group_of(batch).r;
    const Pack4* moving = moving_.data() + batch.moving;
    double* push = work.of_coordinate(work.push, work.first_coordinate[place]);
    double* wrench = work.of_frame(work.wrench, place);
    for (int l = 0; l < r; ++l)
      for (std::size_t i = 0; i < 6; ++i) {
        const double G = moving[PreparedTree::answer + 6 * l + static_cast<int>(i)][path.lane];
        for (std::size_t c = 0; c < n; ++c) wrench[i * columns + c] += G * push[to_size(l) * columns + c];
      }
    double* answer = work.of_coordinate(work.answer, work.first_coordinate[place]);
    std::copy(push, push + to_size(r) * columns, answer);
    solve_factored(work.factor.data() + tree_->factor_of[to_size(path.domain)], r, n, columns, answer);
    if (place > 0) push_parent(place);
  }
}

/// What the frame of a domain on a path feels, given to its parent.
void DomainDynamics::push_parent(std::size_t place) {
  LoopWork& work = *loops_;
  const std::size_t columns = work.columns();
  const PathDomain& path = tree_->paths[place];
  const DomainBatch& batch = tree_->batches[path.batch];
  const int r = tree_->group_of(batch).parent_r;
  const Pack4* moving = moving_.data() + batch.moving;
  Pack4* J = scratch_.data();
  fill_jacobian(batch, J);
  double* jacobian = work.jacobian.data() + 6 * work.first_jacobian[place];
  for (int k = 0; k < 6 * r; ++k) jacobian[k] = J[k][path.lane];
  const Mat3 R = lane_matrix(moving + PreparedTree::turn, path.lane);
  const Vec3 x = lane_vector(moving + PreparedTree::offset, path.lane);
  const double* wrench = work.of_frame(work.wrench, place);
  double* above = work.of_frame(work.wrench, path.parent);
  double* push = work.of_coordinate(work.push, work.first_coordinate[path.parent]);
  for (std::size_t c = 0; c < work.rows.size(); ++c) {
    const Vec3 F = R * column_of(wrench, columns, c), T = R * column_of(wrench + 3 * columns, columns, c);
    const Vec3 about = T + x.cross(F);
    for (int l = 0; l < r; ++l) {
      const double* j = jacobian + 6 * l;
      push[to_size(l) * columns + c] -= Eigen::Map<const Vec3>(j).dot(F) + Eigen::Map<const Vec3>(j + 3).dot(T);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      above[i * columns + c] += F[static_cast<Eigen::Index>(i)];
      above[(3 + i) * columns + c] += about[static_cast<Eigen::Index>(i)];
    }
  }
}

/// Accelerations of the sites, from the root: those that each unit force causes, and in the last column those that the
/// tree has without any.
void DomainDynamics::move_sites() {
  LoopWork& work = *loops_;
  const std::size_t n = work.rows.size(), columns = work.columns();
  double* root = work.of_frame(work.motion, 0);
  const double* felt = work.of_frame(work.wrench, 0);
  for (std::size_t c = 0; c < n; ++c) {
    double y[6] = {};
    for (std::size_t i = 0; i < 6 && !tree_->anchored; ++i) y[i] = -felt[i * columns + c];
    if (!tree_->anchored) solve_root_inertia(y);
    for (std::size_t i = 0; i < 6; ++i) root[i * columns + c] = y[i];
  }
  for (std::size_t i = 0; i < 6; ++i) root[i * columns + n] = frames_[0].A[i];
  for (std::size_t place = 0; place < tree_->paths.size(); ++place) {
    if (place > 0) move_child(place);
    const PathDomain& path = tree_->paths[place];
    const DomainBatch& batch = tree_->batches[path.batch];
    const int r = tree_->group_of(batch).r;
    const Pack4* G = moving_.data() + batch.moving + PreparedTree::answer;
    const double* motion = work.of_frame(work.motion, place);
    const double* answer = work.of_coordinate(work.answer, work.first_coordinate[place]);
    double* rate = work.of_coordinate(work.rate, work.first_coordinate[place]);
    for (int l = 0; l < r; ++l)
      for (std::size_t c = 0; c < columns; ++c) {
        double value = c < n ? answer[to_size(l) * columns + c] : G[6 * r + l][path.lane];
        for (int i = 0; i < 6; ++i) value -= G[6 * l + i][path.lane] * motion[to_size(i) * columns + c];
        rate[to_size(l) * columns + c] = value;
      }
  }
}

void DomainDynamics::move_child(std::size_t place) {
  LoopWork& work = *loops_;
  const std::size_t n = work.rows.size(), columns = work.columns();
  const PathDomain& path = tree_->paths[place];
  const DomainBatch& batch = tree_->batches[path.batch];
  const int r = tree_->group_of(batch).parent_r;
  const Pack4* moving = moving_.data() + batch.moving;
  const Mat3 R = lane_matrix(moving + PreparedTree::turn, path.lane);
  const Vec3 x = lane_vector(moving + PreparedTree::offset, path.lane);
  const double* above = work.of_frame(work.motion, path.parent);
  const double* rate = work.of_coordinate(work.rate, work.first_coordinate[path.parent]);
  const double* jacobian = work.jacobian.data() + 6 * work.first_jacobian[place];
  double* motion = work.of_frame(work.motion, place);
  for (std::size_t c = 0; c < columns; ++c) {
    Vec3 alpha = column_of(above + 3 * columns, columns, c);
    Vec3 a = column_of(above, columns, c) + alpha.cross(x);
    for (int l = 0; l < r; ++l) {
      const double value = rate[to_size(l) * columns + c];
      a += value * Eigen::Map<const Vec3>(jacobian + 6 * l);
      alpha += value * Eigen::Map<const Vec3>(jacobian + 6 * l + 3);
    }
    if (c == n) {
      a += lane_vector(moving + PreparedTree::bias, path.lane);
      alpha += lane_vector(moving + PreparedTree::bias + 3, path.lane);
    }
    put_column(R.transpose() * a, columns, c, motion);
    put_column(R.transpose() * alpha, columns, c, motion + 3 * columns);
  }
}

/// ë of all rows, in the world: of the second site less that of the first.
void DomainDynamics::compare_sites() {
  LoopWork& work = *loops_;
  const std::size_t n = work.rows.size(), columns = work.columns();
  const auto acceleration = [&](std::size_t place, const PreparedClosure& closure, bool turns, std::size_t c) -> Vec3 {
    const FrameMotion& frame = frames_[to_size(tree_->paths[place].domain)];
    const double* motion = work.of_frame(work.motion, place);
    const Vec3 alpha = column_of(motion + 3 * columns, columns, c);
    Vec3 a = turns ? alpha : column_of(motion, columns, c);
    if (place == 0 && !turns) {
      const Vec3 w(frame.w[0], frame.w[1], frame.w[2]);
      a += alpha.cross(closure.anchor);
      if (c == n) a += w.cross(w.cross(closure.anchor));
    }
    return Eigen::Map<const RowMajor3>(frame.R) * a;
  };
  for (std::size_t row = 0; row < n; ++row) {
    const PreparedClosure& closure = tree_->closures[work.rows[row].closure];
    const bool turns = work.rows[row].way >= 3;
    for (std::size_t c = 0; c < columns; ++c)
      work.relative[row * columns + c] = (acceleration(closure.second, closure, turns, c) -
                                          acceleration(closure.first, closure, turns, c))[work.rows[row].way % 3];
  }
}

/// e + τ ė of all rows where forces balance, but for what the new ë adds to it, as right-hand side.
void DomainDynamics::predict_openings(const Scheme& scheme, double slowness) {
  LoopWork& work = *loops_;
  const bool first = at_.q == q_.data(), still = scheme.h == 0;
  const double h = scheme.h, share = scheme.share;
  const double early = first ? share * (h * h / 2 - scheme.beta_h2) - slowness * share * scheme.gamma_h
                             : -share * (scheme.beta_h2 + slowness * scheme.gamma_h);
  Vec3 apart, turned, parts, turns;
  for (std::size_t row = 0; row < work.rows.size(); ++row) {
    const std::size_t k = work.rows[row].closure;
    if (row == 0 || work.rows[row - 1].closure != k) {
      opening(k, apart, turned);
      parting_rates(k, parts, turns);
    }
    const int way = work.rows[row].way;
    const double e = way < 3 ? apart[way] : turned[way - 3], rate = way < 3 ? parts[way] : turns[way - 3];
    const double before = first ? work.parting[row] : work.parting_new[row];
    work.force[row] = -(e + slowness * rate) - (still ? 0.0 : early * before);
    if (still && work.rows[row].give == 0) work.force[row] = 0;  // from here on they stay as they are
  }
}

void DomainDynamics::parting_rates(std::size_t closure, Vec3& apart, Vec3& turned) const {
  const PreparedClosure& c = tree_->closures[closure];
  const auto rates = [&](std::size_t place, Vec3& v, Vec3& w) {
    const FrameMotion& frame = frames_[to_size(tree_->paths[place].domain)];
    const Vec3 spin(frame.w[0], frame.w[1], frame.w[2]);
    Vec3 own(frame.v[0], frame.v[1], frame.v[2]);
    if (place == 0) own += spin.cross(c.anchor);
    v = Eigen::Map<const RowMajor3>(frame.R) * own;
    w = Eigen::Map<const RowMajor3>(frame.R) * spin;
  };
  Vec3 v, w;
  rates(c.first, v, w);
  rates(c.second, apart, turned);
  apart -= v;
  turned -= w;
}

/// After the passes from the leaves and the root's own acceleration: forces between the sites, and what they add to the
/// answers of the domains between them and the root.
void DomainDynamics::close_loops(const Scheme& scheme) {
  if (!loops_) return;
  push_sites();
  move_sites();
  compare_sites();
  LoopWork& work = *loops_;
  const std::size_t n = work.rows.size(), columns = work.columns();
  const double slowness = settings_.stiffness_damping;
  predict_openings(scheme, slowness);
  constexpr double instant = 1e-4;  // [s]: stands for the step where only accelerations are asked for
  const double bend = scheme.h == 0 ? instant * instant : scheme.share * (scheme.beta_h2 + slowness * scheme.gamma_h);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) work.system[i * n + j] = bend * work.relative[i * columns + j];
    work.system[i * n + i] += work.rows[i].give;
    work.force[i] -= bend * work.relative[i * columns + n];
  }
  solve_rows(work.system.data(), n, work.force.data());
  for (std::size_t i = 0; i < n; ++i) {
    work.parting_new[i] = work.relative[i * columns + n];
    for (std::size_t j = 0; j < n; ++j) work.parting_new[i] += work.relative[i * columns + j] * work.force[j];
  }
  spread_closure_forces();
}

void DomainDynamics::spread_closure_forces() {
  LoopWork& work = *loops_;
  const std::size_t n = work.rows.size(), columns = work.columns();
  for (std::size_t place = 0; place < tree_->paths.size(); ++place) {
    const PathDomain& path = tree_->paths[place];
    const DomainBatch& batch = tree_->batches[path.batch];
    const int r = tree_->group_of(batch).r;
    Pack4* g = moving_.data() + batch.moving + PreparedTree::answer + 6 * r;
    const double* answer = work.of_coordinate(work.answer, work.first_coordinate[place]);
    for (int l = 0; l < r; ++l) {
      double sum = g[l][path.lane];
      for (std::size_t c = 0; c < n; ++c) sum += answer[to_size(l) * columns + c] * work.force[c];
      g[l].set(path.lane, sum);
    }
  }
  const double* felt = work.of_frame(work.wrench, 0);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t c = 0; c < n; ++c) root_wrench_[i] += felt[i * columns + c] * work.force[c];
  if (!tree_->anchored) accelerate_root();
}

}  // namespace supple
