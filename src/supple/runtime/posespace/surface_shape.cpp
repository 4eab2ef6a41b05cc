// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/surface_shape.h"

#include "supple/runtime/posespace/lanes.h"

#include <algorithm>

namespace supple {

template <class T>
SurfaceShape<T>::SurfaceShape(std::shared_ptr<const PreparedModel<T>> prepared) : prepared_(std::move(prepared)) {
  std::size_t widest = 0;
  first_.push_back(0);
  for (const PreparedVertices<T>& block : prepared_->surface) {
    first_.push_back(first_.back() + block.count());
    widest = std::max(widest, block.basis.stride);
  }
  for (const VertexBlock& block : prepared_->model->surface.blocks) {
    auto& lanes = frames_.emplace_back();
    const std::span<const FrameBlend> all = block.frames;
    for (std::size_t v = 0; v < all.size(); v += LanesOf<T>::width) lanes.emplace_back(all.subspan(v));
  }
  moved_.assign(first_.back(), Vector::Zero());
  scaled_.assign(widest * prepared_->poses, T(0));
}

/// A row times the coordinates: of all poses, each with its factors, or of the only one.
template <class T>
T SurfaceShape<T>::times_scaled(const PoseMatrices<T>& basis, std::size_t row,
                                std::span<const std::size_t> active) const {
  if (basis.poses == 1)
    return dot(basis.values.data() + row * basis.stride, scaled_.data(), static_cast<int>(basis.stride));
  LanesOf<T> sums(T(0));
  const auto* vectors = basis.vectors(row, 0);
  for (std::size_t c = 0; c < basis.stride; c += LanesOf<T>::width, vectors += basis.poses)
    for (std::size_t k = 0; k < active.size(); ++k)
      sums += widened(vectors[active[k]]) * load(scaled_.data() + k * basis.stride + c);
  return sum_of(sums);
}

/// u ← q u q⁻¹ = u + w t + v × t,  t = 2 v × u,  q = (v, w)
template <class T>
void SurfaceShape<T>::move_vertices(std::size_t block, std::size_t v, const FrameField<T>& frames,
                                    std::span<const std::size_t> active) {
  using Lanes = LanesOf<T>;
  const PreparedVertices<T>& vertices = prepared_->surface[block];
  const std::size_t count = std::min<std::size_t>(Lanes::width, vertices.count() - v);
  alignas(32) T entries[3][Lanes::width] = {};
  for (std::size_t lane = 0; lane < count; ++lane)
    for (std::size_t i = 0; i < 3; ++i) entries[i][lane] = times_scaled(vertices.basis, 3 * (v + lane) + i, active);
  if (prepared_->model->directions == BasisDirections::rotating) {
    const auto q = frames.blend(frames_[block][v / Lanes::width]);
    const Lanes x = load(entries[0]), y = load(entries[1]), z = load(entries[2]), two(T(2));
    const Lanes s = two * (q[1] * z - q[2] * y), t = two * (q[2] * x - q[0] * z), r = two * (q[0] * y - q[1] * x);
    store(entries[0], x + q[3] * s + q[1] * r - q[2] * t);
    store(entries[1], y + q[3] * t + q[2] * s - q[0] * r);
    store(entries[2], z + q[3] * r + q[0] * t - q[1] * s);
  }
  for (std::size_t lane = 0; lane < count; ++lane)
    moved_[first_[block] + v + lane] = Vector(entries[0][lane], entries[1][lane], entries[2][lane]);
}

template <class T>
void SurfaceShape<T>::displacements(const PoseInterpolation<T>& pose, const FrameField<T>& frames, const T* q,
                                    const Eigen::Matrix<T, 3, 3>& turn, std::span<Vec3> shown) {
  const SoftSurface& surface = prepared_->model->surface;
  const auto active = pose.active();
  for (std::size_t b = 0; b < prepared_->surface.size(); ++b) {
    const PreparedVertices<T>& block = prepared_->surface[b];
    const auto stride = static_cast<std::size_t>(block.columns.stride);
    for (std::size_t k = 0; k < active.size(); ++k) {
      T* row = scaled_.data() + k * stride;
      std::fill(row, row + stride, T(0));
      const T* factors = pose.factors(active[k]);
      for (std::size_t c = 0; c < block.columns.place.size(); ++c)
        row[c] = q[block.columns.place[c]] * factors[block.columns.place[c]] * block.basis.scale[c];
    }
    for (std::size_t v = 0; v < block.count(); v += LanesOf<T>::width) move_vertices(b, v, frames, active);
  }
  for (std::size_t v = 0; v < shown.size(); ++v) {
    Vector u = Vector::Zero();
    for (std::size_t k = 0; k < SoftSurface::nodes; ++k)
      u += static_cast<T>(surface.weight[v][k]) * moved_[static_cast<std::size_t>(surface.vertex[v][k])];
    shown[v] = (turn * u).template cast<double>();
  }
}

template <class T>
void SurfaceShape<T>::add_force(const PoseInterpolation<T>& pose, const FrameField<T>& frames, Index vertex,
                                const Vec3& force, T* f) {
  const SoftSurface& surface = prepared_->model->surface;
  for (std::size_t n = 0; n < SoftSurface::nodes; ++n) {
    const auto node = static_cast<std::size_t>(surface.vertex[static_cast<std::size_t>(vertex)][n]);
    const auto weight = static_cast<T>(surface.weight[static_cast<std::size_t>(vertex)][n]);
    const auto b = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), node) - first_.begin()) - 1;
    const PreparedVertices<T>& block = prepared_->surface[b];
    const std::size_t v = node - first_[b];
    Vector local = force.cast<T>() * weight;
    if (prepared_->model->directions == BasisDirections::rotating)
      local = frames.blend(surface.blocks[b].frames[v]).transpose() * local;
    for (const std::size_t i : pose.active()) {
      const T* factors = pose.factors(i);
      for (std::size_t c = 0; c < block.columns.place.size(); ++c) {
        T along = T(0);
        for (std::size_t d = 0; d < 3; ++d)
          along += block.basis.entry(i, 3 * v + d, c) * local[static_cast<Eigen::Index>(d)];
        f[block.columns.place[c]] += factors[block.columns.place[c]] * along;
      }
    }
  }
}

template class SurfaceShape<float>;
template class SurfaceShape<double>;

}  // namespace supple
