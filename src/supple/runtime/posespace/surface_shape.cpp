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

/// Turns the vectors of a tile's vertices as their frames (null: none) and the root are turned. One function for all
/// who need it, not inlined: where two products are added a compiler fuses one or the other, and bits would depend on
/// the place.
template <class T, class Tile>
[[gnu::noinline]] void turn_along(const FrameField<T>& frames, const FrameLanes<T>* of_vertices,
                                  const Eigen::Matrix<T, 3, 3>& turn, Tile& tile) {
  for (std::size_t k = 0; k < tile.size(); ++k) {
    if (of_vertices != nullptr) tile[k] = frames.rotated(of_vertices[k], tile[k]);
    tile[k] = turned(turn, tile[k]);
  }
}

/// Σ_k weight_k moved_k, where a vertex of the surface is.
template <class T>
Quad<T> shown_at(const SurfaceHold<T>& hold, const T* moved) {
  Quad<T> sum{};  // from zero: so every product is fused with the sum before it, here as in other loops
  for (std::size_t k = 0; k < SoftSurface::nodes; ++k) sum += hold.weight[k] * load_quad(moved + hold.place[k]);
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
  Eight sum{};
  sum += __builtin_shufflevector(w, w, 0, 0, 0, 0, 4, 4, 4, 4) * at(0);
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

/// Vertices of a pair of instances, each in one half of a vector: lane l of both to target + 8 l.
void store_pairs(float* target, std::array<LanesOf<float>, 4> first, std::array<LanesOf<float>, 4> second) {
  transpose(first);
  transpose(second);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto a = first[k].v, b = second[k].v;
    store(target + 8 * k, LanesOf<float>(__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)));
    store(target + 8 * (k + 4), LanesOf<float>(__builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)));
  }
}

/// Σ_k weight_k moved_k of a pair; `moved` has eight numbers where `hold` counts four.
LanesOf<float> pair_at(const SurfaceHold<float>& hold, const float* moved) {
  LanesOf<float> sum(0.0F);
  for (std::size_t k = 0; k < SoftSurface::nodes; ++k)
    sum += LanesOf<float>(hold.weight[k]) * load(moved + 2 * hold.place[k]);
  return sum;
}

/// Fills in all vertices of the surfaces of some pairs, as show() does.
template <std::size_t pairs>
void show_pairs(std::span<const SurfaceHold<float>> holds, const std::array<const float*, pairs>& moved,
                const std::array<float*, 2 * pairs>& shown) {
  if (holds.empty()) return;
  std::size_t v = 0;
  for (; v + 1 < holds.size(); ++v)
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto sum = pair_at(holds[v], moved[i]).v;
      put<float>(__builtin_shufflevector(sum, sum, 0, 1, 2, 3), shown[2 * i] + 3 * v);
      put<float>(__builtin_shufflevector(sum, sum, 4, 5, 6, 7), shown[2 * i + 1] + 3 * v);
    }
  for (std::size_t i = 0; i < pairs; ++i) {
    const LanesOf<float> last = pair_at(holds[v], moved[i]);
    for (int k = 0; k < 6; ++k) shown[2 * i + to_size(k / 3)][3 * v + to_size(k % 3)] = last[k / 3 * 4 + k % 3];
  }
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
  moved_.assign(2 * 4 * surface.tiles * Block::tile_vertices, T(0));
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
      Tile tile = sum(surface.tile(block, t), terms);
      turn_along(frames, surface.frames_of(block.first + t), turn, tile);
      for (std::size_t k = 0; k < Block::vectors; ++k, moved += 4 * Lanes::width)
        store_quads(moved, {tile[k][0], tile[k][1], tile[k][2], Lanes(T(0))});
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
template <std::size_t count>
auto SurfaceShape<T>::sum(const StoredLanes<T>* vector, const std::array<std::span<const Term>, count>& terms)
    -> std::array<Vectors, count> {
  std::array<Vectors, count> sums;
  for (Vectors& one : sums) one.fill(Lanes(T(0)));
  for (std::size_t t = 0; t < terms[0].size(); ++t) {
    const StoredLanes<T>* column = vector + terms[0][t].column;
    const Lanes x = widened(column[0]), y = widened(column[Block::vectors]), z = widened(column[2 * Block::vectors]);
    for (std::size_t i = 0; i < count; ++i) {
      const Lanes factor(terms[i][t].factor);
      sums[i][0] += x * factor;
      sums[i][1] += y * factor;
      sums[i][2] += z * factor;
    }
  }
  return sums;
}

template <class T>
template <std::size_t count>
void SurfaceShape<T>::move_together(std::span<SurfaceShape* const> shapes,
                                    std::span<const SurfacePicture<T>> pictures) {
  const PreparedSurface<T>& surface = *shapes[0]->prepared_->surface;
  const auto equal = [](const Term& a, const Term& b) { return a.column == b.column; };
  for (const SurfaceBlock<T>& block : surface.blocks) {
    std::array<std::span<const Term>, count> terms;
    bool same = true;
    for (std::size_t i = 0; i < count; ++i) {
      terms[i] = shapes[i]->find_terms(block, *pictures[i].pose, pictures[i].q);
      same = same && std::equal(terms[i].begin(), terms[i].end(), terms[0].begin(), terms[0].end(), equal);
    }
    for (std::size_t t = 0; t < block.tiles; ++t) {
      std::array<Tile, count> tiles;
      for (std::size_t k = 0; k < Block::vectors; ++k) {
        const StoredLanes<T>* tile = surface.tile(block, t) + k;
        std::array<Vectors, count> u;
        if (same)
          u = sum<count>(tile, terms);
        else  // some coordinates of some of them are zero, and adding them might change the sign of a zero
          for (std::size_t i = 0; i < count; ++i) u[i] = sum<1>(tile, {terms[i]})[0];
        for (std::size_t i = 0; i < count; ++i) tiles[i][k] = u[i];
      }
      for (std::size_t i = 0; i < count; ++i)
        if (!terms[i].empty())
          turn_along(*pictures[i].frames, surface.frames_of(block.first + t), pictures[i].turn, tiles[i]);
      for (std::size_t i = 0; i < count; i += 2)
        for (std::size_t k = 0; k < Block::vectors; ++k) {
          const Vectors &a = tiles[i][k], &b = tiles[i + 1][k];
          store_pairs(shapes[i]->moved_.data() + 8 * ((block.first + t) * Block::vectors + k) * Lanes::width,
                      {a[0], a[1], a[2], Lanes(T(0))}, {b[0], b[1], b[2], Lanes(T(0))});
        }
    }
  }
}

template <class T>
template <std::size_t count>
void SurfaceShape<T>::show_together(std::span<SurfaceShape* const> shapes,
                                    std::span<const SurfacePicture<T>> pictures) {
  move_together<count>(shapes, pictures);
  std::array<const float*, count / 2> moved;
  std::array<float*, count> shown;
  for (std::size_t i = 0; i < count; ++i) {
    moved[i / 2] = shapes[i / 2 * 2]->moved_.data();
    shown[i] = numbers_of(pictures[i].shown);
  }
  show_pairs<count / 2>(shapes[0]->prepared_->surface->holds, moved, shown);
}

template <class T>
void SurfaceShape<T>::displacements(std::span<SurfaceShape* const> shapes,
                                    std::span<const SurfacePicture<T>> pictures) {
  if constexpr (std::is_same_v<T, float>) {
    const auto whole = [&](const SurfacePicture<T>& one) {
      return one.shown.size() == shapes[0]->prepared_->surface->holds.size();
    };
    while (shapes.size() > 1 && std::all_of(pictures.begin(), pictures.end(), whole)) {
      const std::size_t count = shapes.size() < together ? 2 : together;
      count == 2 ? show_together<2>(shapes, pictures) : show_together<together>(shapes, pictures);
      shapes = shapes.subspan(count);
      pictures = pictures.subspan(count);
    }
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    shapes[i]->displacements(*pictures[i].pose, *pictures[i].frames, pictures[i].q, pictures[i].turn,
                             pictures[i].shown);
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
