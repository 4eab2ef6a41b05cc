// SPDX-License-Identifier: Apache-2.0
#include "samples/domain_scenes.h"

#include "supple/mesh/box.h"
#include "supple/mesh/low_side.h"
#include "supple/rig/pose.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <cmath>
#include <map>
#include <numbers>

namespace supple::samples {
namespace {

using std::numbers::pi;

ElasticMaterial wood(double young, double density = 700) {
  return {.name = "wood", .young = young, .poisson = 0.35, .density = density};
}

// ---- bodies of cells ------------------------------------------------------------------------------------------------

/// Corners of all cells, shared, and the domain of each.
HexMesh bricks_of(std::span<const CellBox> boxes, double cell, std::vector<Index>& labels) {
  std::map<std::array<int, 3>, Index> owner, vertex;
  for (const CellBox& box : boxes)
    for (int x = box.low[0]; x < box.high[0]; ++x)
      for (int y = box.low[1]; y < box.high[1]; ++y)
        for (int z = box.low[2]; z < box.high[2]; ++z) owner.emplace(std::array{x, y, z}, box.domain);
  HexMesh mesh;
  static constexpr int corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (const auto& [at, domain] : owner) {
    HexMesh::Element element;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::array corner{at[0] + corners[k][0], at[1] + corners[k][1], at[2] + corners[k][2]};
      const auto [place, is_new] = vertex.emplace(corner, static_cast<Index>(mesh.vertices.size()));
      if (is_new) mesh.vertices.push_back(cell * Vec3(corner[0], corner[1], corner[2]));
      element[k] = place->second;
    }
    mesh.elements.push_back(element);
    labels.push_back(domain);
  }
  return mesh;
}

// ---- rods and blades ------------------------------------------------------------------------------------------------

/// A round rod along y from the origin, tapered and bent, as large as a unit of length `length`.
struct Rod {
  double length = 1, base = 0.05, tip = 0.02, bend = 0.1;  ///< radii; how far the tip is off the axis, along x [m]
  double wave = 0;                                         ///< how far it winds along z [m]
  int along = 20, across = 4;

  Vec3 centre(double t) const { return {bend * t * t, length * t, wave / 2 * (1 - std::cos(3 * pi * t))}; }
  Vec3 direction(double t) const {
    return Vec3(2 * bend * t, length, 1.5 * pi * wave * std::sin(3 * pi * t)).normalized();
  }
  double radius(double t) const { return base + t * (tip - base); }

  TetMesh mesh(const ElasticMaterial& material) const {
    TetMesh box = make_tet_box(Vec3(2, 1, 2), {across, along, across});
    for (Vec3& v : box.vertices) {
      const double x = v.x() - 1, z = v.z() - 1, t = v.y();
      // A square becomes a disc.
      const Vec3 disc(x * std::sqrt(1 - z * z / 2), 0, z * std::sqrt(1 - x * x / 2));
      const Quat turn = rotation_between(Vec3::UnitY(), direction(t));
      v = centre(t) + radius(t) * (turn * disc);
    }
    set_uniform_material(box, material);
    return box;
  }
};

/// Vertices of the first layer: y = 0 of a rod or a blade.
template <class Mesh>
std::vector<Index> base_of(const Mesh& mesh) {
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (mesh.vertices[v].y() < 1e-6) fixed.push_back(static_cast<Index>(v));
  return fixed;
}

/// A leaf or a wing: flat, along y, wide in its middle, thick at its base. Lobes make an oak's leaf of it.
TetMesh blade(double length, double width, double thickness, std::array<int, 3> cells, const ElasticMaterial& material,
              double lobes = 0) {
  TetMesh box = make_tet_box(Vec3(1, 1, 1), cells);
  for (Vec3& v : box.vertices) {
    const double t = v.y();
    const double lobed = 1 - lobes / 2 * (1 + std::cos(6 * pi * t));
    const double half = width / 2 * (0.12 + 0.88 * lobed * std::sin(pi * std::pow(t, 0.8) * 0.97));
    const double thick = thickness * (1.6 - t);
    v = Vec3((2 * v.x() - 1) * half, length * t, (v.z() - 0.5) * thick);
  }
  set_uniform_material(box, material);
  return box;
}

PartPlan rooted_part(std::string name, const TetMesh& mesh, int size) {
  return {.name = std::move(name), .mesh = mesh, .fixed = base_of(mesh), .size = size};
}

/// The turn that takes y to a direction, and x as near as can be to the other.
Mat3 facing(const Vec3& direction, const Vec3& side) {
  Mat3 R;
  R.col(1) = direction.normalized();
  R.col(2) = side.cross(R.col(1)).normalized();
  R.col(0) = R.col(1).cross(R.col(2));
  return R;
}

Vec3 any_side(const Vec3& direction) {
  return std::abs(direction.x()) < 0.8 ? Vec3(direction.cross(Vec3::UnitX())) : Vec3(direction.cross(Vec3::UnitZ()));
}

/// A domain on a rod of its parent: at height t, around it by an angle, leaning away from it.
DomainPlan on_rod(const TreePlan& plan, Index parent, const Rod& rod, double t, double around, double lean, Index part,
                  double scale) {
  const DomainPlan& above = plan.domains[to_size(parent)];
  const Vec3 axis = above.rotation * rod.direction(t);
  const Vec3 side = above.rotation * Vec3(std::cos(around), 0, std::sin(around));
  const Vec3 outward = (side - axis.dot(side) * axis).normalized();
  DomainPlan domain;
  domain.part = part;
  domain.parent = parent;
  domain.scale = scale;
  domain.rotation = facing(std::cos(lean) * axis + std::sin(lean) * outward, any_side(axis));
  domain.position =
      above.position + above.scale * (above.rotation * rod.centre(t)) + 0.6 * above.scale * rod.radius(t) * outward;
  domain.reach = above.scale * rod.radius(t) * 1.2;
  return domain;
}

// ---- the scenes -----------------------------------------------------------------------------------------------------

Result<TreePlan> flower_plan() {
  const CellBody<TetMesh> flower = flower_body();
  SplitSettings settings;
  settings.names = flower_names();
  settings.root = "stem";
  settings.fixed = flower_ground(flower.mesh);
  settings.size = 20;
  return split_mesh(flower.mesh, flower.labels, settings);
}

constexpr std::string_view bitmaps[8][7] = {{"11111", "10000", "10000", "11111", "00001", "00001", "11111"},
                                            {"1", "1", "1", "1", "1", "1", "1"},
                                            {"11111", "10000", "10000", "10111", "10001", "10001", "11111"},
                                            {"11111", "10000", "10000", "10111", "10001", "10001", "11111"},
                                            {"11111", "10001", "10001", "11111", "10110", "10011", "10001"},
                                            {"11111", "10001", "10001", "11111", "10001", "10001", "10001"},
                                            {"11111", "10001", "10001", "11111", "10000", "10000", "10000"},
                                            {"10001", "10001", "10001", "11111", "10001", "10001", "10001"}};

Result<TreePlan> letters_plan(bool coarse) {
  const int pixel = coarse ? 2 : 5, depth = coarse ? 2 : 4;
  std::vector<CellBox> boxes;
  SplitSettings settings;
  int left = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    const auto domain = static_cast<Index>(2 * k);
    settings.names.push_back(fmt::format("{} {}", "SIGGRAPH"[k], k + 1));
    for (int row = 0; row < 7; ++row) {
      const std::string_view line = bitmaps[k][row];
      for (int column = 0; column < static_cast<int>(line.size()); ++column) {
        if (line[to_size(column)] != '1') continue;
        const int x = left + pixel * column, y = pixel * (6 - row);
        boxes.push_back({{x, y, 0}, {x + pixel, y + pixel, depth}, domain});
      }
    }
    left += pixel * static_cast<int>(bitmaps[k][0].size());
    if (k == 7) break;
    settings.names.push_back(fmt::format("link {}", k + 1));
    boxes.push_back({{left, 3 * pixel, 0}, {left + pixel, 4 * pixel, depth}, domain + 1});
    left += pixel;
  }
  const double cell = 0.1 / pixel;  // letters of 70 cm
  CellBody<TetMesh> body = tetrahedra_of(boxes, cell);
  set_uniform_material(body.mesh, {.name = "rubber", .young = 3e5, .poisson = 0.4, .density = 1000});
  settings.root = settings.names[6];
  Result<TreePlan> plan = split_mesh(body.mesh, body.labels, settings);
  if (!plan.ok()) return plan;
  for (PartPlan& part : plan->parts) part.size = part.name.starts_with("link") ? 0 : 20;
  return plan;
}

Result<TreePlan> dragon_plan(bool coarse) {
  const int a = coarse ? 3 : 6;
  const ElasticMaterial flesh = {.name = "flesh", .young = 4e5, .poisson = 0.42, .density = 1000};
  const Rod torso{.length = 1.4, .base = 0.32, .tip = 0.24, .bend = 0.1, .along = 6 * a, .across = a};
  const Rod neck{.length = 0.7, .base = 0.15, .tip = 0.1, .bend = 0.25, .along = 5 * a, .across = a - 1};
  const Rod head{.length = 0.4, .base = 0.14, .tip = 0.06, .bend = 0.05, .along = 4 * a, .across = a};
  const Rod jaw{.length = 0.3, .base = 0.06, .tip = 0.03, .bend = 0.0, .along = 4 * a, .across = a - 1};
  const Rod horn{.length = 0.3, .base = 0.03, .tip = 0.008, .bend = 0.1, .along = 4 * a, .across = a - 1};
  const Rod tail{.length = 0.6, .base = 0.16, .tip = 0.11, .bend = 0.08, .along = 5 * a, .across = a};
  const Rod spike{.length = 0.2, .base = 0.03, .tip = 0.006, .bend = 0.04, .along = 3 * a, .across = a - 2};
  const Rod leg{.length = 0.6, .base = 0.12, .tip = 0.07, .bend = 0.1, .along = 4 * a, .across = a};
  const Rod foot{.length = 0.25, .base = 0.07, .tip = 0.05, .bend = 0.0, .along = 3 * a, .across = a};
  const Rod finger{.length = 0.9, .base = 0.03, .tip = 0.01, .bend = 0.15, .along = 6 * a, .across = a - 1};
  TreePlan plan;
  const std::pair<const Rod*, int> rods[] = {{&torso, 30}, {&neck, 16}, {&head, 14}, {&jaw, 10},  {&horn, 10},
                                             {&tail, 16},  {&spike, 8}, {&leg, 14},  {&foot, 10}, {&finger, 10}};
  constexpr const char* names[] = {"torso", "neck", "head", "jaw", "horn", "tail", "spike", "leg", "foot", "finger"};
  for (std::size_t k = 0; k < std::size(rods); ++k)
    plan.parts.push_back(rooted_part(names[k], rods[k].first->mesh(flesh), rods[k].second));
  plan.parts.push_back(rooted_part("wing", blade(1.0, 0.6, 0.04, {a, 4 * a, 2}, flesh), 16));
  plan.domains.emplace_back();
  const auto add = [&](Index parent, const Rod& rod, double t, double around, double lean, Index part, double scale) {
    plan.domains.push_back(on_rod(plan, parent, rod, t, around, lean, part, scale));
    return static_cast<Index>(plan.domains.size()) - 1;
  };
  const Index first_neck = add(0, torso, 0.97, 0, 0.2, 1, 1), skull = add(first_neck, neck, 0.97, 0, 0.9, 2, 1);
  add(skull, head, 0.3, pi, 0.5, 3, 1);
  for (const double side : {-1.0, 1.0}) add(skull, head, 0.3, side * 1.2, 1.9, 4, 1);
  Index segment = 0;
  for (int k = 0; k < 4; ++k) {
    segment = k == 0 ? add(0, torso, 0.1, pi, 1.9, 5, 1) : add(segment, tail, 0.97, 0, 0.15, 5, std::pow(0.8, k));
    for (int s = 0; s < 2; ++s) add(segment, tail, 0.3 + 0.4 * s, pi / 2, 1.3, 6, 1);
  }
  for (int k = 0; k < 6; ++k) add(0, torso, 0.2 + 0.13 * k, -0.1, 1.4, 6, 1.3);
  for (const double height : {0.2, 0.8})
    for (const double side : {-1.0, 1.0}) {
      const Index limb = add(0, torso, height, pi + side * 0.9, 1.5, 7, 1);
      add(limb, leg, 0.97, 0, 1.2, 8, 1);
    }
  for (const double side : {-1.0, 1.0}) {
    const Index wing = add(0, torso, 0.75, side * 1.3, 1.2, 10, 1);
    const Rod spar{.length = 1.0, .base = 0.05, .tip = 0.05, .bend = 0};
    for (int k = 0; k < 3; ++k) add(wing, spar, 0.3 + 0.25 * k, 0, 0.5 + 0.4 * k, 9, 0.8);
  }
  return plan;
}

HexMesh brick_part(const Vec3& size, std::array<int, 3> cells, double young) {
  HexMesh mesh = make_hex_box(size, cells);
  for (Vec3& v : mesh.vertices) v -= Vec3(size.x() / 2, 0, size.z() / 2);
  set_uniform_material(mesh, {.name = "metal", .young = young, .poisson = 0.3, .density = 300});
  return mesh;
}

Result<TreePlan> station_plan(bool coarse) {
  const int a = coarse ? 1 : 2;
  const auto part = [](std::string name, HexMesh mesh, int size, bool held) {
    std::vector<Index> fixed = held ? base_of(mesh) : std::vector<Index>{};
    return PartPlan{.name = std::move(name), .mesh = std::move(mesh), .fixed = std::move(fixed), .size = size};
  };
  TreePlan plan;
  plan.parts.push_back(part("core", brick_part(Vec3(4, 10, 4), {6 * a, 15 * a, 6 * a}, 2e6), 25, false));
  plan.parts.push_back(part("module", brick_part(Vec3(3, 7, 3), {5 * a, 12 * a, 5 * a}, 1e6), 20, true));
  plan.parts.push_back(part("truss", brick_part(Vec3(1.2, 20, 1.2), {3 * a, 40 * a, 3 * a}, 3e6), 20, true));
  plan.parts.push_back(part("panel", brick_part(Vec3(4, 12, 0.3), {6 * a, 20 * a, 1 * a}, 3e6), 20, true));
  plan.parts.push_back(part("mast", brick_part(Vec3(0.4, 5, 0.4), {2 * a, 20 * a, 2 * a}, 1e6), 14, true));
  plan.parts.push_back(part("dish", brick_part(Vec3(2, 2.5, 0.4), {5 * a, 6 * a, 2 * a}, 3e5), 13, true));
  plan.domains.emplace_back();
  const auto add = [&](Index parent, Index kind, const Vec3& place, const Vec3& direction, const Vec3& side) {
    const DomainPlan& above = plan.domains[to_size(parent)];
    DomainPlan domain;
    domain.part = kind;
    domain.parent = parent;
    domain.rotation = above.rotation * facing(direction, side);
    domain.position = above.position + above.rotation * place;
    domain.reach = 0.8;
    plan.domains.push_back(domain);
    return static_cast<Index>(plan.domains.size()) - 1;
  };
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
  for (const double side : {-1.0, 1.0}) {
    add(0, 1, Vec3(0, 2, side * 2), side * z, x);
    const Index module = add(0, 1, Vec3(0, 8, side * 2), side * z, x);
    for (int k = 0; k < (side > 0 ? 3 : 2); ++k) add(module, 4, Vec3(1.2 - 1.2 * k, 6.8, 0), y, x);
    add(module, 5, Vec3(1.5, 4, 0), x, y);
  }
  for (const double height : {0.3, 9.7})
    for (const double side : {-1.0, 1.0}) {
      const Index truss = add(0, 2, Vec3(side * 2, height, 0), side * x, y);
      for (int k = 0; k < 4; ++k)
        for (const double up : {-1.0, 1.0}) add(truss, 3, Vec3(0, 4 + 5 * k, up * 0.6), up * z, y);
    }
  return plan;
}

/// Fractions that look random, the same everywhere.
double scatter(int k, double step) { return k * step - std::floor(k * step); }

/// A short trunk, five limbs that spread and rise, and leaves from the outer half of the branches on. Every rod goes on
/// in a thinner one at its tip, so that none ends bluntly.
class OakPlanner {
 public:
  explicit OakPlanner(bool coarse) {
    const int a = coarse ? 2 : 5;
    const auto rod = [&](double length, double base, double tip, double bend, double wave) {
      return Rod{.length = length, .base = base, .tip = tip, .bend = bend, .wave = wave, .along = 14 * a, .across = a};
    };
    kinds_ = {rod(2.1, 0.42, 0.27, 0.12, 0.06), rod(2.2, 0.2, 0.1, 0.3, 0.2), rod(1.5, 0.1, 0.05, 0.12, 0.14),
              rod(1.3, 0.05, 0.02, 0.05, 0.1), rod(1.1, 0.04, 0.01, 0.05, 0.08)};
    constexpr const char* names[] = {"trunk", "limb", "branch", "twig", "sprig"};
    constexpr double young[] = {2e9, 1e9, 6e8, 4e8, 3e8};
    for (std::size_t k = 0; k < 5; ++k)
      plan_.parts.push_back(rooted_part(names[k], kinds_[k].mesh(wood(young[k])), 20));
    const std::array<int, 3> cells = coarse ? std::array{2, 7, 1} : std::array{4, 12, 1};
    plan_.parts.push_back(rooted_part("leaf", blade(0.55, 0.36, 0.003, cells, {"leaf", 4e7, 0.35, 300}, 0.45), 8));
    plan_.domains.emplace_back();
  }

  TreePlan run() {
    choose_places();
    std::vector<Index> limbs, branches, twigs;
    for (int k = 0; k < 5; ++k) limbs.push_back(grow(0, 0, 0.74 + 0.06 * k, 1));
    for (int k = 0; k < 10; ++k) branches.push_back(grow(limbs[to_size(k % 5)], 1, k < 5 ? 0.97 : 0.6, 2));
    for (int k = 0; k < 13; ++k)
      twigs.push_back(grow(branches[to_size(k < 10 ? k : 2 * (k - 10))], 2, k < 10 ? 0.97 : 0.5, 3));
    for (int k = 0; k < 12; ++k) {
      if (k < 7)
        grow(branches[to_size(k + 3)], 2, 0.6, 4);
      else
        grow(twigs[to_size(2 * (k - 7))], 3, 0.4, 4);
    }
    add_leaves();
    return std::move(plan_);
  }

 private:
  /// Places on a dome that branches grow towards, each once: what makes the crown round.
  void choose_places() {
    constexpr int count = 40;
    for (int k = 0; k < count; ++k) {
      const double height = -0.25 + 1.2 * (k + 0.5) / count, wide = std::sqrt(std::max(0.0, 1 - height * height));
      places_.emplace_back(3.6 * wide * std::cos(2.39996 * k), 3.4 + 3.2 * height, 3.6 * wide * std::sin(2.39996 * k));
    }
  }

  /// The place that is easiest to reach from there.
  Vec3 take_place(const Vec3& from, const Vec3& axis) {
    const Vec3 outward = (from - Vec3(0, 3, 0)).normalized() + axis;
    std::size_t best = 0;
    double most = -1e300;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const Vec3 way = places_[k] - from;
      const double ease = way.normalized().dot(outward) - 0.25 * way.norm();
      if (ease > most) {
        most = ease;
        best = k;
      }
    }
    const Vec3 place = places_[best];
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(best));
    return place;
  }

  /// A rod that grows out of another at height t, towards a free place of the dome.
  Index grow(Index parent, int kind, double t, int next) {
    const Rod& rod = kinds_[to_size(kind)];
    const DomainPlan& above = plan_.domains[to_size(parent)];
    DomainPlan domain;
    domain.part = next;
    domain.parent = parent;
    domain.scale = 0.9 + 0.2 * scatter(++drawn_, 0.6180339887);
    const Vec3 axis = above.rotation * rod.direction(t);
    domain.position = above.position + above.scale * (above.rotation * rod.centre(t));
    const bool limb = parent == 0;
    const double around = 2.6 * drawn_;
    const Vec3 place =
        limb ? Vec3(3 * std::cos(around), 4 + 0.4 * drawn_, 3 * std::sin(around)) : take_place(domain.position, axis);
    const Vec3 towards = (place - domain.position).normalized(), direction = (towards + 0.3 * axis).normalized();
    const Vec3 outward = (direction - axis.dot(direction) * axis).normalized();
    domain.position += (t > 0.9 ? 0.1 : 0.5) * above.scale * rod.radius(t) * outward;
    domain.rotation = facing(direction, Vec3::UnitY().cross(direction).norm() > 0.1 ? Vec3::UnitY() : Vec3::UnitX());
    domain.reach = above.scale * rod.radius(t) * 1.2;
    plan_.domains.push_back(domain);
    const auto grown = static_cast<Index>(plan_.domains.size()) - 1;
    if (next >= 2) bearers_.emplace_back(grown, next);
    return grown;
  }

  void add_leaves() {
    constexpr int leaves = 1394;
    int k = 0;
    for (std::size_t b = 0; b < bearers_.size(); ++b) {
      const auto [bearer, kind] = bearers_[b];
      const int last = static_cast<int>(leaves * (b + 1) / bearers_.size()), own = last - k;
      for (int n = 0; k < last; ++k, ++n) {
        const double from = kind == 2 ? 0.45 : 0.1, t = from + (0.99 - from) * (n + 0.5) / own;
        plan_.domains.push_back(on_rod(plan_, bearer, kinds_[to_size(kind)], t, 2.39996 * n,
                                       0.5 + 1.1 * scatter(k, 0.754877666), 5, 0.75 + 0.5 * scatter(k, 0.569840291)));
      }
    }
  }

  std::array<Rod, 5> kinds_;
  TreePlan plan_;
  std::vector<Vec3> places_;
  std::vector<std::pair<Index, int>> bearers_;  // domains with leaves, and their kind
  int drawn_ = 0;
};

}  // namespace

CellBody<TetMesh> tetrahedra_of(std::span<const CellBox> boxes, double cell) {
  CellBody<TetMesh> body;
  std::vector<Index> labels;
  const HexMesh bricks = bricks_of(boxes, cell, labels);
  body.mesh.vertices = bricks.vertices;
  // Six tetrahedra around the main diagonal match across cells (Kuhn).
  static constexpr std::array<Index, 4> tets[6] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                                   {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  for (std::size_t e = 0; e < bricks.elements.size(); ++e)
    for (const auto& tet : tets) {
      const auto& c = bricks.elements[e];
      body.mesh.elements.push_back({c[to_size(tet[0])], c[to_size(tet[1])], c[to_size(tet[2])], c[to_size(tet[3])]});
      body.labels.push_back(labels[e]);
    }
  return body;
}

std::vector<std::string> flower_names() {
  return {"stem",      "bloom",     "petal 1",      "petal 2",   "petal 3",   "petal 4",
          "top petal", "side stem", "second bloom", "left leaf", "back leaf", "front leaf"};
}

CellBody<TetMesh> flower_body() {
  const std::vector<CellBox> boxes = {
      {{0, 0, 0}, {3, 40, 3}, 0},      {{-2, 40, -2}, {5, 42, 5}, 1},  {{5, 40, -1}, {13, 42, 4}, 2},
      {{-10, 40, -1}, {-2, 42, 4}, 3}, {{-1, 40, 5}, {4, 42, 13}, 4},  {{-1, 40, -10}, {4, 42, -2}, 5},
      {{0, 42, 0}, {3, 50, 3}, 6},     {{3, 15, 0}, {15, 17, 3}, 7},   {{15, 13, -2}, {19, 20, 5}, 8},
      {{-12, 10, -1}, {0, 11, 4}, 9},  {{0, 20, -12}, {3, 21, 0}, 10}, {{0, 8, 3}, {3, 9, 15}, 11}};
  CellBody<TetMesh> body = tetrahedra_of(boxes, 0.01);
  set_uniform_material(body.mesh, {.name = "plant", .young = 2e7, .poisson = 0.4, .density = 900});
  return body;
}

std::vector<Index> flower_ground(const TetMesh& mesh) { return vertices_at_zero(mesh.vertices, 1); }

Result<TreePlan> domain_scene(std::string_view name, bool coarse) {
  if (name == "flower") return flower_plan();
  if (name == "letters") return letters_plan(coarse);
  if (name == "dragon") return dragon_plan(coarse);
  if (name == "station") return station_plan(coarse);
  if (name == "oak") return OakPlanner(coarse).run();
  return input_error(
      fmt::format("there is no scene of domains named \"{}\"; take flower, letters, dragon, station or "
                  "oak",
                  name));
}

TreePlan leafy_plan(int leaves) {
  TreePlan plan;
  const Rod trunk{.length = 3, .base = 0.2, .tip = 0.1, .bend = 0.1, .along = 12, .across = 2};
  const Rod twig{.length = 1, .base = 0.03, .tip = 0.015, .bend = 0.1, .along = 12, .across = 2};
  plan.parts.push_back(rooted_part("trunk", trunk.mesh(wood(1e9)), 12));
  plan.parts.push_back(rooted_part("twig", twig.mesh(wood(3e8)), 12));
  plan.parts.push_back(rooted_part("leaf", blade(0.16, 0.1, 0.002, {2, 5, 1}, {"leaf", 4e7, 0.35, 600}), 8));
  plan.domains.emplace_back();
  Index bearer = 0;
  for (int k = 0; k < leaves; ++k) {
    if (k % 32 == 0) {
      plan.domains.push_back(on_rod(plan, 0, trunk, 0.2 + 0.75 * scatter(k, 0.618), 2.4 * k, 0.9, 1, 1));
      bearer = static_cast<Index>(plan.domains.size()) - 1;
    }
    plan.domains.push_back(on_rod(plan, bearer, twig, 0.2 + 0.75 * scatter(k, 0.7549), 2.4 * k, 1.0, 2, 1));
  }
  return plan;
}

}  // namespace supple::samples
