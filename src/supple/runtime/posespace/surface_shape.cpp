// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/surface_shape.h"

#include "supple/math/simd/lanes.h"

#include <algorithm>

namespace supple {
namespace {

template <class T, class Lanes>
std::array<Lanes, 3> turned(const Eigen::Matrix<T, 3, 3>& turn, const std::array<Lanes, 3>& u) {
  std::array<Lanes, 3> result;
  for (Eigen::Index i = 0; i < 3; ++i)
    result[to_size(i)] = Lanes(turn(i, 0)) * u[0] + Lanes(turn(i, 1)) * u[1] + Lanes(turn(i, 2)) * u[2];
  return result;
}

/// Σ_k weight_k moved_k for each vertex of the surface
template <class T>
void show(std::span<const SurfaceHold<T>> holds, const T* moved, double* shown) {
  for (const SurfaceHold<T>& hold : holds) {
    Quad<T> sum = hold.weight[0] * load_quad(moved + hold.place[0]);
    for (std::size_t k = 1; k < SoftSurface::nodes; ++k) sum += hold.weight[k] * load_quad(moved + hold.place[k]);
    const auto exact = __builtin_convertvector(sum, Quad<double>);
    const auto first = __builtin_shufflevector(exact, exact, 0, 1);
    std::memcpy(shown, &first, sizeof first);
    shown[2] = exact[2];
    shown += 3;
  }
}

}  // namespace

template <class T>
SurfaceShape<T>::SurfaceShape(std::shared_ptr<const PreparedModel<T>> prepared) : prepared_(std::move(prepared)) {
  const PreparedSurface<T>& surface = *prepared_->surface;
  std::size_t widest = 0;
  for (const SurfaceBlock<T>& block : surface.blocks) widest = std::max(widest, block.columns());
  terms_.resize(prepared_->poses * widest + 1);
  moved_.assign(4 * surface.tiles * Lanes::width, T(0));
}

template <class T>
auto SurfaceShape<T>::find_terms(const SurfaceBlock<T>& block, const PoseInterpolation<T>& pose, const T* q)
    -> std::span<const Term> {
  std::size_t count = 0;
  for (std::size_t k = 0; k < block.stored.size(); ++k) {
    const int place = block.place[to_size(block.stored[k].column)];
    const T factor = q[place] * pose.factors(to_size(block.stored[k].pose))[place] * block.scale[k];
    if (factor != T(0)) terms_[count++] = {factor, static_cast<std::uint32_t>(3 * k)};
  }
  if (count % 2 == 1) terms_[count++] = {};
  return {terms_.data(), count};
}

/// Every other term goes to sums of its own: additions that wait for each other would take longer than memory does.
template <class T>
auto SurfaceShape<T>::sum(const StoredLanes<T>* tile, std::span<const Term> terms) -> Vectors {
  Vectors even{Lanes(T(0)), Lanes(T(0)), Lanes(T(0))}, odd = even;
  for (std::size_t k = 0; k < terms.size(); k += 2) {
    const StoredLanes<T>*a = tile + terms[k].column, *b = tile + terms[k + 1].column;
    __builtin_prefetch(a + PreparedSurface<T>::ahead);
    __builtin_prefetch(b + PreparedSurface<T>::ahead + 1);
    const Lanes factor(terms[k].factor), other(terms[k + 1].factor);
    for (std::size_t i = 0; i < 3; ++i) {
      even[i] += widened(a[i]) * factor;
      odd[i] += widened(b[i]) * other;
    }
  }
  return {even[0] + odd[0], even[1] + odd[1], even[2] + odd[2]};
}

template <class T>
void SurfaceShape<T>::displacements(const PoseInterpolation<T>& pose, const FrameField<T>& frames, const T* q,
                                    const Eigen::Matrix<T, 3, 3>& turn, std::span<Vec3> shown) {
  const PreparedSurface<T>& surface = *prepared_->surface;
  for (const SurfaceBlock<T>& block : surface.blocks) {
    T* moved = moved_.data() + 4 * block.first * Lanes::width;
    const auto terms = find_terms(block, pose, q);
    if (terms.empty()) std::fill_n(moved, 4 * block.tiles * Lanes::width, T(0));
    for (std::size_t t = 0; t < block.tiles && !terms.empty(); ++t, moved += 4 * Lanes::width) {
      Vectors u = sum(surface.tile(block, t), terms);
      if (!surface.frames.empty()) u = frames.rotated(surface.frames[block.first + t], u);
      u = turned(turn, u);
      store_quads(moved, {u[0], u[1], u[2], Lanes(T(0))});
    }
  }
  const std::size_t count = std::min(shown.size(), surface.holds.size());
  if (count > 0) show(std::span(surface.holds).first(count), moved_.data(), shown.data()->data());
}

template <class T>
void SurfaceShape<T>::add_force(const PoseInterpolation<T>& pose, const FrameField<T>& frames, Index vertex,
                                const Vec3& force, T* f) {
  const PreparedSurface<T>& surface = *prepared_->surface;
  const SurfaceHold<T>& hold = surface.holds[to_size(vertex)];
  for (std::size_t n = 0; n < SoftSurface::nodes; ++n) {
    const std::size_t node = hold.place[n] / 4, b = surface.block_of(node);
    const SurfaceBlock<T>& block = surface.blocks[b];
    const std::size_t v = node - block.first * Lanes::width;
    Eigen::Matrix<T, 3, 1> local = force.cast<T>() * hold.weight[n];
    if (prepared_->model->directions == BasisDirections::rotating)
      local = frames.blend(prepared_->model->surface.blocks[b].frames[v]).transpose() * local;
    for (std::size_t k = 0; k < block.stored.size(); ++k) {
      const int place = block.place[to_size(block.stored[k].column)];
      const T factor = pose.factors(to_size(block.stored[k].pose))[place];
      if (factor == T(0)) continue;
      T along = T(0);
      for (std::size_t d = 0; d < 3; ++d) along += surface.entry(block, v, d, k) * local[static_cast<Eigen::Index>(d)];
      f[place] += factor * along;
    }
  }
}

template class SurfaceShape<float>;
template class SurfaceShape<double>;

}  // namespace supple
