// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/piece_body.h"

#include <fmt/format.h>

#include "supple/math/dense/decompositions.h"
#include "supple/mesh/box.h"
#include "supple/mesh/embedding.h"
#include "supple/mesh/triangle_tree.h"
#include "supple/offline/domains/branch_labels.h"
#include "supple/offline/domains/split_mesh.h"
#include "supple/offline/meshing/flesh.h"
#include "supple/offline/meshing/tetrahedralize.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace supple {
namespace {

const ElasticMaterial green_wood{.name = "wood", .young = 1e6, .poisson = 0.3, .density = wood_density};
const ElasticMaterial crown{.name = "crown", .young = 1e6, .poisson = 0.3, .density = 60};  // mostly air

bool spread_in_a_plane(std::span<const Vec3> points, std::span<const Index> some) {
  Vec3 mean = Vec3::Zero();
  for (const Index v : some) mean += points[to_size(v)] / static_cast<double>(some.size());
  Mat3 C = Mat3::Zero();
  for (const Index v : some) C += (points[to_size(v)] - mean) * (points[to_size(v)] - mean).transpose();
  const VecX values = symmetric_eigenvalues(C);
  return values[1] > 1e-4 * values[2] && values[2] > 0;
}

/// Those within reach of the support, but at least four that aren't on a line, and at most a quarter of all.
std::vector<Index> held_vertices(std::span<const Vec3> vertices, const std::vector<double>& away, double reach) {
  std::vector<Index> order(vertices.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return away[to_size(a)] < away[to_size(b)]; });
  const double least = away[to_size(order.front())];
  std::size_t count = 0;
  const std::size_t most = std::max<std::size_t>(4, order.size() / 4);
  while (count < most && away[to_size(order[count])] <= least + reach) ++count;
  count = std::min(std::max<std::size_t>(count, 4), order.size());
  while (count < order.size() && !spread_in_a_plane(vertices, std::span(order).first(count))) ++count;
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<double> distances_to(const PieceSupport& support, std::span<const Vec3> vertices) {
  std::vector<double> away;
  if (support.parent == nullptr) {
    for (const Vec3& v : vertices) away.push_back(support.ground.away(v));
    return away;
  }
  const TriangleTree tree(*support.parent);
  for (const Vec3& v : vertices) away.push_back(tree.nearest(v).distance);
  return away;
}

/// A crown of leaves drawn as a blob, rather than a branch: thick for its size.
bool is_bulky(const TetMesh& mesh, const SurfacePiece& piece) {
  constexpr double thick = 0.04;  // volume over area, as a share of the size
  return volume_of(mesh) > thick * piece.area * piece.size();
}

std::vector<char> covered_elements(const TetMesh& mesh, const std::vector<const Surface*>& covers) {
  std::vector<char> covered(mesh.elements.size(), 0);
  for (const Surface* cover : covers) {
    const Flesh flesh(*cover);
    for (std::size_t e = 0; e < covered.size(); ++e) {
      Vec3 middle = Vec3::Zero();
      for (const Index v : mesh.elements[e]) middle += mesh.vertices[to_size(v)] / 4;
      if (flesh.inside(middle)) covered[e] = 1;
    }
  }
  return covered;
}

/// Gives each domain the triangles whose middle is in its elements, with all their vertices: those at an interface are
/// shown by both sides, and become one vertex later.
Status share_surface(const SurfacePiece& piece, PieceBody& body) {
  std::vector<Vec3> middles;
  for (const Triangle& t : piece.shape.triangles)
    middles.emplace_back((piece.shape.vertices[to_size(t[0])] + piece.shape.vertices[to_size(t[1])] +
                          piece.shape.vertices[to_size(t[2])]) /
                         3);
  const Result<Embedding> places = std::visit([&](const auto& mesh) { return embed(mesh, middles); }, body.whole);
  SUPPLE_RETURN_IF_ERROR(places);
  const std::size_t count = body.tree.domains.size();
  body.shown.assign(count, {});
  std::vector<std::map<Index, Index>> number(count);
  std::vector<Surface> surfaces(count);
  for (std::size_t t = 0; t < middles.size(); ++t) {
    const auto d = to_size(body.element_domain[to_size(places->element[t])]);
    Triangle own = piece.shape.triangles[t];
    for (Index& v : own) {
      const auto [place, is_new] = number[d].emplace(v, static_cast<Index>(body.shown[d].size()));
      if (is_new) {
        body.shown[d].push_back(v);
        surfaces[d].vertices.push_back(piece.shape.vertices[to_size(v)] - body.tree.domains[d].position);
      }
      v = place->second;
    }
    surfaces[d].triangles.push_back(own);
  }
  for (std::size_t d = 0; d < count; ++d) body.tree.parts[d].surface = std::move(surfaces[d]);
  return {};
}

/// Takes the origin of the first domain to where the piece is held.
void move_origin(PieceBody& body, const Vec3& contact) {
  std::visit(
      [&](auto& mesh) {
        for (Vec3& v : mesh.vertices) v -= contact;
      },
      body.tree.parts[0].mesh);
  body.tree.domains[0].position = contact;
}

}  // namespace

double volume_of(const TetMesh& mesh) {
  double volume = 0;
  for (const auto& t : mesh.elements) {
    const Vec3& a = mesh.vertices[to_size(t[0])];
    volume += (mesh.vertices[to_size(t[1])] - a)
                  .cross(mesh.vertices[to_size(t[2])] - a)
                  .dot(mesh.vertices[to_size(t[3])] - a) /
              6;
  }
  return volume;
}

double PieceBody::mass() const {
  const auto* tets = std::get_if<TetMesh>(&whole);
  if (tets != nullptr) return volume_of(*tets) * tets->material_of(0).density;
  const HexMesh& bricks = std::get<HexMesh>(whole);
  return bounds_of(bricks.vertices).size().prod() * bricks.material_of(0).density;
}

Index PieceBody::domain_at(const Vec3& point) const {
  if (tree.domains.size() == 1) return 0;
  const Result<Embedding> place =
      std::visit([&](const auto& mesh) { return embed(mesh, std::span(&point, 1)); }, whole);
  return place.ok() ? element_domain[to_size(place->element[0])] : 0;
}

Result<PieceBody> fill_piece(const SurfacePiece& piece, const PieceSupport& support, int tets,
                             const PlantSettings& settings) {
  TetMeshingOptions options;
  options.tets = tets;
  options.distance_samples = 0;
  Result<TetMeshingResult> meshed = tetrahedralize(piece.shape, options);
  SUPPLE_RETURN_IF_ERROR(meshed);
  TetMesh mesh = largest_solid(meshed->mesh);
  set_uniform_material(mesh, support.parent != nullptr && is_bulky(mesh, piece) ? crown : green_wood);
  SplitSettings split;
  split.fixed = held_vertices(mesh.vertices, distances_to(support, mesh.vertices), support.reach);
  split.size = settings.branch_size;
  PieceBody body;
  BranchLabels labels;
  labels.label.assign(mesh.elements.size(), 0);
  if (settings.split) labels = label_branches(mesh, split.fixed, covered_elements(mesh, support.covers));
  body.loops = labels.loops;
  for (Index k = 0; k < labels.count; ++k) split.names.push_back(fmt::format("{}", k));
  split.root = split.names.front();
  Result<TreePlan> tree = split_mesh(mesh, labels.label, split);
  if (!tree.ok() && labels.count > 1) {  // the cut doesn't hold: the piece stays in one
    std::fill(labels.label.begin(), labels.label.end(), Index{0});
    tree = split_mesh(mesh, labels.label, split);
  }
  SUPPLE_RETURN_IF_ERROR(tree);
  body.tree = std::move(*tree);
  std::vector<Index> domain_of(to_size(labels.count), 0);
  for (std::size_t d = 0; d < body.tree.parts.size(); ++d)
    domain_of[to_size(std::stoi(body.tree.parts[d].name))] = static_cast<Index>(d);
  for (const Index label : labels.label) body.element_domain.push_back(domain_of[to_size(label)]);
  body.whole = std::move(mesh);
  move_origin(body, support.contact);
  SUPPLE_RETURN_IF_ERROR(share_surface(piece, body));
  return body;
}

Result<PieceBody> box_piece(const SurfacePiece& piece, const PieceSupport& support, double mass, int size) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& v : piece.shape.vertices) mean += v / static_cast<double>(piece.shape.vertices.size());
  Mat3 C = Mat3::Zero();
  for (const Vec3& v : piece.shape.vertices) C += (v - mean) * (v - mean).transpose();
  const SymmetricEigen eigen = symmetric_eigen(C);
  Mat3 axes;  // the longest first
  axes.col(0) = eigen.vectors.col(2);
  axes.col(1) = eigen.vectors.col(1);
  axes.col(2) = axes.col(0).cross(axes.col(1));
  Bounds box;
  for (const Vec3& v : piece.shape.vertices) box.add(axes.transpose() * (v - mean));
  constexpr double thinnest = 0.08;  // of the length: bricks that are flatter bend badly
  const double length = std::max(box.size().maxCoeff(), 1e-9);
  const Vec3 extent = box.size().cwiseMax(thinnest * length);
  std::array<int, 3> cells{};
  for (std::size_t a = 0; a < 3; ++a)
    cells[a] = std::clamp(static_cast<int>(std::lround(4 * extent[static_cast<Eigen::Index>(a)] / length)), 1, 4);
  HexMesh mesh = make_hex_box(extent, cells);
  for (Vec3& v : mesh.vertices) v = mean + axes * (box.center() + v - extent / 2);
  set_uniform_material(mesh, {.name = "leaf", .young = 1e6, .poisson = 0.3, .density = mass / extent.prod()});
  std::vector<double> away;
  for (const Vec3& v : mesh.vertices) away.push_back((v - support.contact).norm());
  PieceBody body;
  PartPlan part;
  part.name = "leaf";
  part.mesh = mesh;
  part.size = size;
  part.fixed = held_vertices(mesh.vertices, away, 0.3 * extent[1]);
  body.tree.parts.push_back(std::move(part));
  body.tree.domains.emplace_back();
  body.element_domain.assign(mesh.elements.size(), 0);
  body.whole = std::move(mesh);
  move_origin(body, support.contact);
  SUPPLE_RETURN_IF_ERROR(share_surface(piece, body));
  return body;
}

}  // namespace supple
