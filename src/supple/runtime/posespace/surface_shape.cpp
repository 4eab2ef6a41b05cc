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

/// Σ_k weight_k moved_k, where a vertex of the surface is.
template <class T>
Quad<T> shown_at(const SurfaceHold<T>& hold, const T* moved) {
  Quad<T> sum = hold.weight[0] * load_quad(moved + hold.place[0]);
  for (std::size_t k = 1; k < SoftSurface::nodes; ++k) sum += hold.weight[k] * load_quad(moved + hold.place[k]);
  return sum;
}

/// Four numbers go to the target, the last of which belongs to the next vertex and is overwritten with it.
template <class T, class Scalar>
void put(Quad<T> sum, Scalar* target) {
  const auto converted = __builtin_convertvector(sum, Quad<Scalar>);
  std::memcpy(target, &converted, sizeof converted);
}

LanesOf<float>::Vector two_quads(const float* a, const float* b) {
  return __builtin_shufflevector(load_quad(a), load_quad(b), 0, 1, 2, 3, 4, 5, 6, 7);
}

/// Two neighbours at once, one in each half of a vector; the bits are those of one after the other.
template <class Scalar>
void show_two(const SurfaceHold<float>* hold, const float* moved, Scalar* shown) {
  using Eight = LanesOf<float>::Vector;
  const Eight w = two_quads(hold[0].weight.data(), hold[1].weight.data());
  const auto at = [&](std::size_t k) { return two_quads(moved + hold[0].place[k], moved + hold[1].place[k]); };
  Eight sum = __builtin_shufflevector(w, w, 0, 0, 0, 0, 4, 4, 4, 4) * at(0);
  sum += __builtin_shufflevector(w, w, 1, 1, 1, 1, 5, 5, 5, 5) * at(1);
  sum += __builtin_shufflevector(w, w, 2, 2, 2, 2, 6, 6, 6, 6) * at(2);
  sum += __builtin_shufflevector(w, w, 3, 3, 3, 3, 7, 7, 7, 7) * at(3);
  put<float>(__builtin_shufflevector(sum, sum, 0, 1, 2, 3), shown);
  put<float>(__builtin_shufflevector(sum, sum, 4, 5, 6, 7), shown + 3);
}

/// Fills in all vertices of the surface, three numbers each. The last one is written without a fourth.
template <class T, class Scalar>
void show(std::span<const SurfaceHold<T>> holds, const T* moved, Scalar* shown) {
  if (holds.empty()) return;
  std::size_t v = 0;
  if constexpr (std::is_same_v<T, float>)
    for (; v + 2 < holds.size(); v += 2) show_two(&holds[v], moved, shown + 3 * v);
  for (; v + 1 < holds.size(); ++v) put<T>(shown_at(holds[v], moved), shown + 3 * v);
  const Quad<T> last = shown_at(holds[v], moved);
  for (int i = 0; i < 3; ++i) shown[3 * v + to_size(i)] = static_cast<Scalar>(last[i]);
}

template <class Vector>
auto* numbers_of(std::span<Vector> vectors) {
  return vectors.empty() ? nullptr : vectors.data()->data();
}

}  // namespace

template <class T>
SurfaceShape<T>::SurfaceShape(std::shared_ptr<const PreparedModel<T>> prepared) : prepared_(std::move(prepared)) {
  const PreparedSurface<T>& surface = *prepared_->surface;
  std::size_t widest = 0;
  for (const SurfaceBlock<T>& block : surface.blocks) widest = std::max(widest, block.columns());
  terms_.resize(prepared_->poses * widest);
  moved_.assign(4 * surface.tiles * Block::tile_vertices, T(0));
}

template <class T>
auto SurfaceShape<T>::find_terms(const SurfaceBlock<T>& block, const PoseFactors<T>& pose, const T* q)
    -> std::span<const Term> {
  std::size_t count = 0;
  for (std::size_t k = 0; k < block.stored.size(); ++k) {
    const int place = block.place[to_size(block.stored[k].column)];
    const T factor = q[place] * pose.factors(to_size(block.stored[k].pose))[place] * block.scale[k];
    if (factor != T(0)) terms_[count++] = {factor, static_cast<std::uint32_t>(3 * Block::vectors * k)};
  }
  return {terms_.data(), count};
}

template <class T>
auto SurfaceShape<T>::sum(const StoredLanes<T>* tile, std::span<const Term> terms) -> Tile {
  constexpr std::size_t vectors = Block::vectors;
  Lanes sums[3 * vectors];
  std::fill(sums, sums + 3 * vectors, Lanes(T(0)));
  for (const Term& term : terms) {
    const StoredLanes<T>* column = tile + term.column;
    const Lanes factor(term.factor);
    for (std::size_t i = 0; i < 3 * vectors; ++i) sums[i] += widened(column[i]) * factor;
  }
  Tile result;
  for (std::size_t i = 0; i < 3 * vectors; ++i) result[i % vectors][i / vectors] = sums[i];
  return result;
}

template <class T>
void SurfaceShape<T>::move(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                           const Eigen::Matrix<T, 3, 3>& turn) {
  const PreparedSurface<T>& surface = *prepared_->surface;
  for (const SurfaceBlock<T>& block : surface.blocks) {
    T* moved = moved_.data() + 4 * block.first * Block::tile_vertices;
    const auto terms = find_terms(block, pose, q);
    if (terms.empty()) std::fill_n(moved, 4 * block.tiles * Block::tile_vertices, T(0));
    for (std::size_t t = 0; t < block.tiles && !terms.empty(); ++t) {
      const Tile tile = sum(surface.tile(block, t), terms);
      for (std::size_t k = 0; k < Block::vectors; ++k, moved += 4 * Lanes::width) {
        Vectors u = tile[k];
        if (!surface.frames.empty()) u = frames.rotated(surface.frames[(block.first + t) * Block::vectors + k], u);
        u = turned(turn, u);
        store_quads(moved, {u[0], u[1], u[2], Lanes(T(0))});
      }
    }
  }
}

template <class T>
void SurfaceShape<T>::displacements(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                                    const Eigen::Matrix<T, 3, 3>& turn, std::span<Vec3> shown) {
  move(pose, frames, q, turn);
  const std::span<const SurfaceHold<T>> holds = prepared_->surface->holds;
  show(holds.first(std::min(shown.size(), holds.size())), moved_.data(), numbers_of(shown));
}

template <class T>
void SurfaceShape<T>::displacements(const PoseFactors<T>& pose, const FrameField<T>& frames, const T* q,
                                    const Eigen::Matrix<T, 3, 3>& turn, std::span<Eigen::Vector3f> shown) {
  move(pose, frames, q, turn);
  const std::span<const SurfaceHold<T>> holds = prepared_->surface->holds;
  show(holds.first(std::min(shown.size(), holds.size())), moved_.data(), numbers_of(shown));
}

template <class T>
void SurfaceShape<T>::add_force(const PoseFactors<T>& pose, const FrameField<T>& frames, Index vertex,
                                const Vec3& force, T* f) {
  const PreparedSurface<T>& surface = *prepared_->surface;
  const SurfaceHold<T>& hold = surface.holds[to_size(vertex)];
  for (std::size_t n = 0; n < SoftSurface::nodes; ++n) {
    const std::size_t node = hold.place[n] / 4, b = surface.block_of(node);
    const SurfaceBlock<T>& block = surface.blocks[b];
    const std::size_t v = node - block.first * Block::tile_vertices;
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
