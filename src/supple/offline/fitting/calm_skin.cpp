// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/calm_skin.h"

#include "supple/base/parallel.h"
#include "supple/fem/linear_solver.h"
#include "supple/mesh/topology.h"

#include <algorithm>
#include <random>

namespace supple {
namespace {

/// Vertices that share a triangle with each, ascending.
std::vector<std::vector<Index>> neighbours_of(const Surface& skin) {
  std::vector<std::vector<Index>> around(skin.vertices.size());
  for (const Triangle& t : skin.triangles)
    for (const Index v : t)
      for (const Index w : t)
        if (v != w) around[to_size(v)].push_back(w);
  for (std::vector<Index>& own : around) {
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return around;
}

Vec3 middle_of(const std::vector<Index>& around, const Surface& skin) {
  Vec3 middle = Vec3::Zero();
  for (const Index w : around) middle += skin.vertices[to_size(w)] / static_cast<double>(around.size());
  return middle;
}

/// How a vertex moves beside its neighbours, in one of the swings.
struct Beside {
  double off = 0, apart = 0, most = 0;
};

Beside beside(const Eigen::Ref<const VecX>& shown, std::size_t v, const std::vector<Index>& around) {
  const auto at = [&](std::size_t w) { return shown.segment<3>(3 * static_cast<Eigen::Index>(w)); };
  Beside result{.most = at(v).norm()};
  Vec3 mean = Vec3::Zero();
  for (const Index a : around) {
    mean += at(to_size(a)) / static_cast<double>(around.size());
    result.most = std::max(result.most, at(to_size(a)).norm());
    for (const Index b : around) result.apart = std::max(result.apart, (at(to_size(a)) - at(to_size(b))).norm());
  }
  result.off = (at(v) - mean).norm();
  return result;
}

/// The largest e_v of all swings; `shown`: of the skin.
double standing_out(const MatX& shown, std::size_t v, const std::vector<Index>& around, const CalmSettings& settings) {
  double largest = 0;
  for (Eigen::Index c = 0; c < shown.cols(); ++c) {
    const Beside own = beside(shown.col(c), v, around);
    const double bearable = settings.spread * own.apart + settings.share * own.most;
    if (bearable > 0) largest = std::max(largest, own.off / bearable);
  }
  return largest;
}

/// e_v − 1 of those that are looked at, 0 of the others.
std::vector<double> excesses(const MatX& shown, const std::vector<std::vector<Index>>& around,
                             std::span<const char> looked_at, std::span<const char> kept,
                             const CalmSettings& settings) {
  constexpr std::size_t fewest = 3;  // neighbours that make a mean
  std::vector<double> excess(around.size(), 0.0);
  parallel_for(std::ssize(excess), 256, [&](std::int64_t i) {
    const auto v = to_size(i);
    if (looked_at[v] && !kept[v] && around[v].size() >= fewest)
      excess[v] = standing_out(shown, v, around[v], settings) - 1;
  });
  return excess;
}

/// Who has to be looked at again when a vertex hangs elsewhere.
void look_around(std::size_t v, const std::vector<std::vector<Index>>& around, std::span<char> looked_at) {
  looked_at[v] = 1;
  for (const Index w : around[v]) looked_at[to_size(w)] = 1;
}

/// The neighbour that moves most like the mean of all.
Index most_like_mean(const MatX& shown, const std::vector<Index>& around) {
  const auto at = [&](Index w) { return shown.middleRows<3>(3 * Eigen::Index{w}); };
  MatX mean = MatX::Zero(3, shown.cols());
  for (const Index w : around) mean += at(w) / static_cast<double>(around.size());
  return *std::min_element(around.begin(), around.end(), [&](Index a, Index b) {
    return (at(a) - mean).squaredNorm() < (at(b) - mean).squaredNorm();
  });
}

/// Hangs a point as another one hangs, of the same embedding or not.
void hang_like(const Embedding& other, std::size_t w, std::size_t v, Embedding& embedding) {
  embedding.element[v] = other.element[w];
  for (std::size_t c = 0; c < 4; ++c) {
    embedding.vertices[4 * v + c] = other.vertices[4 * w + c];
    embedding.weights[4 * v + c] = other.weights[4 * w + c];
  }
}

/// Hangs some of the points where they are now.
Status hang_again(const TetMesh& mesh, const std::vector<std::size_t>& moved, const std::vector<Vec3>& places,
                  Embedding& embedding) {
  std::vector<Vec3> points;
  for (const std::size_t v : moved) points.push_back(places[v]);
  const Result<Embedding> again = embed_nearest(mesh, points);
  SUPPLE_RETURN_IF_ERROR(again);
  for (std::size_t k = 0; k < moved.size(); ++k) hang_like(*again, k, moved[k], embedding);
  return {};
}

constexpr int pushes = 12, ways_of_body = 2 * pushes, mixtures = 36;

/// Between −1 and 1.
double next_number(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }

/// All ways by themselves, and mixtures: one column each.
MatX push_mixtures() {
  MatX mixed = MatX::Zero(ways_of_body, ways_of_body + mixtures);
  mixed.leftCols(ways_of_body).setIdentity();
  std::mt19937_64 random(1);
  for (int c = ways_of_body; c < mixed.cols(); ++c) {
    for (int r = 0; r < ways_of_body; ++r) mixed(r, c) = next_number(random);
    mixed.col(c).normalize();
  }
  return mixed;
}

/// Pieces that don't hang together may be pushed each by its own.
void part_pieces(const TetMesh& mesh, MatX& swings) {
  const Components pieces = connected_components(mesh);
  std::vector<Index> piece(mesh.vertices.size(), 0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (const Index v : mesh.elements[e]) piece[to_size(v)] = pieces.label[e];
  std::mt19937_64 random(2);
  for (Eigen::Index c = ways_of_body; pieces.count > 1 && c < swings.cols(); ++c) {
    std::vector<double> share(to_size(pieces.count));
    for (double& s : share) s = next_number(random);
    for (std::size_t v = 0; v < piece.size(); ++v)
      swings.col(c).segment<3>(3 * static_cast<Eigen::Index>(v)) *= share[to_size(piece[v])];
  }
}

}  // namespace

Result<MatX> sample_swings(const TetMesh& mesh, const ElasticBody& body, std::span<const Index> held,
                           const RigidTransform& frame, double size) {
  const Result<FreeVertices> free = FreeVertices::create(body, held);
  SUPPLE_RETURN_IF_ERROR(free);
  BlockMatrix K = body.make_matrix();
  VecX force(body.dof_count()), way;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  LinearSolver solver(*free, {});
  const Mat3 axes = frame.rotation.toRotationMatrix();
  MatX ways(body.dof_count(), ways_of_body);
  for (int k = 0; k < ways_of_body; ++k) {
    VecX push = VecX::Zero(body.dof_count());
    if (k < pushes) {
      for (Index v = 0; v < body.vertex_count(); ++v) {
        const Vec3 y = axes.transpose() * (body.rest_positions().segment<3>(3 * v) - frame.translation) / size;
        push.segment<3>(3 * v) = axes.col(k % 3) * (k < 3 ? 1.0 : y[k / 3 - 1]);
      }
    } else {
      push = ways.col(k - pushes);
    }
    way.resize(0);
    if (!solver.solve(K, body.consistent_mass() * push, way).solved())
      return input_error("some flesh isn't held by any bone; mark it as rigid, or let a bone cross it");
    ways.col(k) = k < pushes || way.isZero() ? way : VecX(way * (push.norm() / way.norm()));
  }
  MatX swings = ways * push_mixtures();
  part_pieces(mesh, swings);
  return swings;
}

Result<Embedding> calm_skin(const TetMesh& mesh, const MatX& swings, const Surface& skin, std::span<const char> kept,
                            Embedding embedding, const CalmSettings& settings) {
  const std::vector<std::vector<Index>> around = neighbours_of(skin);
  std::vector<Vec3> places = skin.vertices;
  std::vector<double> lambda(places.size(), 0.0);
  std::vector<char> looked_at(places.size(), 1);
  for (int round = 0; round < settings.rounds; ++round) {
    const MatX shown = embedding.interpolate(swings);
    const std::vector<double> excess = excesses(shown, around, looked_at, kept, settings);
    std::fill(looked_at.begin(), looked_at.end(), char{0});
    const Embedding before = embedding;
    std::vector<std::size_t> moved;
    bool settled = true;
    for (std::size_t v = 0; v < places.size(); ++v) {
      if (!(excess[v] > 0)) continue;
      settled = false;
      look_around(v, around, looked_at);
      if (lambda[v] >= 1) {
        hang_like(before, to_size(most_like_mean(shown, around[v])), v, embedding);
        continue;
      }
      constexpr double step = 0.5;
      lambda[v] = std::min(1.0, lambda[v] + step * std::min(excess[v], 1.0));
      places[v] = skin.vertices[v] + lambda[v] * (middle_of(around[v], skin) - skin.vertices[v]);
      moved.push_back(v);
    }
    if (settled) break;
    SUPPLE_RETURN_IF_ERROR(hang_again(mesh, moved, places, embedding));
  }
  return embedding;
}

}  // namespace supple
