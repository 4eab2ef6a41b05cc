// SPDX-License-Identifier: Apache-2.0
#include "samples/plants.h"

#include "samples/domain_scenes.h"
#include "supple/io/gltf/write_character.h"
#include "supple/mesh/topology.h"
#include "supple/rig/pose.h"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

namespace supple::samples {
namespace {

constexpr double whole_turn = 2 * std::numbers::pi, golden_angle = 2.39996;

/// Numbers that look random and are the same everywhere.
class Scatter {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  double between(double low, double high) { return low + (high - low) * next(); }
  Quat turn() {
    const Vec3 axis(next() - 0.5, next() - 0.5, next() - 0.5);
    return Quat(Eigen::AngleAxisd(whole_turn * next(), axis.normalized()));
  }

 private:
  std::uint64_t state_ = 1;
};

struct Placed {
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();
  double scale = 1;
};

void append(const Surface& piece, const Placed& place, Surface& all) {
  const auto first = static_cast<Index>(all.vertices.size());
  for (const Vec3& v : piece.vertices) all.vertices.emplace_back(place.position + place.scale * (place.rotation * v));
  for (const Triangle& t : piece.triangles) all.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

/// A closed tube along y, tapered, bent towards x.
Surface tube(double length, double base, double tip, double bend, int around = 8, int along = 8) {
  Surface out;
  for (int i = 0; i <= along; ++i) {
    const double t = static_cast<double>(i) / along, r = base + t * (tip - base);
    for (int k = 0; k < around; ++k) {
      const double angle = whole_turn * k / around;
      out.vertices.emplace_back(bend * t * t + r * std::cos(angle), length * t, r * std::sin(angle));
    }
  }
  for (int i = 0; i < along; ++i) {
    for (int k = 0; k < around; ++k) {
      const Index a = i * around + k, b = i * around + (k + 1) % around, c = a + around, d = b + around;
      out.triangles.push_back({a, c, b});
      out.triangles.push_back({b, c, d});
    }
  }
  const auto bottom = static_cast<Index>(out.vertices.size()), top = bottom + 1;
  out.vertices.emplace_back(0, 0, 0);
  out.vertices.emplace_back(bend, length, 0);
  for (int k = 0; k < around; ++k) {
    const int next = (k + 1) % around;
    out.triangles.push_back({bottom, k, next});
    out.triangles.push_back({top, along * around + next, along * around + k});
  }
  return out;
}

Surface leaf_card() {
  Surface leaf;
  leaf.vertices = {{0, 0, 0}, {0.06, 0.1, 0.01}, {-0.06, 0.1, 0.01}, {0, 0.25, 0.03}};
  leaf.triangles = {{0, 1, 2}, {1, 3, 2}};
  return leaf;
}

Surface grass_blade() {
  Surface blade;
  blade.vertices = {{-0.012, 0, 0}, {0.012, 0, 0}, {-0.01, 0.15, 0.02}, {0.01, 0.15, 0.02}, {0, 0.32, 0.07}};
  blade.triangles = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}};
  return blade;
}

/// A bent strip with a ridge, along x.
Surface frond() {
  Surface out;
  constexpr int along = 8;
  for (int i = 0; i <= along; ++i) {
    const double t = static_cast<double>(i) / along, y = 0.5 * t - 0.7 * t * t;
    const double half = 0.18 * std::sin(std::numbers::pi * std::min(1.0, 0.9 * t + 0.08));
    out.vertices.emplace_back(1.6 * t, y, -half);
    out.vertices.emplace_back(1.6 * t, y + 0.04, 0);
    out.vertices.emplace_back(1.6 * t, y, half);
  }
  for (int i = 0; i < along; ++i) {
    for (int k = 0; k < 2; ++k) {
      const Index a = 3 * i + k;
      out.triangles.push_back({a, a + 1, a + 3});
      out.triangles.push_back({a + 1, a + 4, a + 3});
    }
  }
  return out;
}

Index add_plant_node(RawCharacter& plant, const std::string& name, const Placed& place = {}) {
  Joint joint;
  joint.name = name;
  joint.rest.translation = place.position;
  joint.rest.rotation = place.rotation;
  joint.rest.scale = Vec3::Constant(place.scale);
  plant.skeleton.joints.push_back(joint);
  return plant.skeleton.size() - 1;
}

void add_plant_mesh(RawCharacter& plant, const std::string& name, Surface surface, const Placed& place = {}) {
  CharacterMesh mesh;
  mesh.name = name;
  mesh.node = add_plant_node(plant, name, place);
  mesh.surface = std::move(surface);
  plant.meshes.push_back(std::move(mesh));
}

/// Where branch k of so many grows out of a straight trunk, golden angles apart.
Placed branch_place(int k, int count, double low, double high, double lean) {
  const double t = count > 1 ? static_cast<double>(k) / (count - 1) : 0.5, around = golden_angle * k;
  const Vec3 out(std::cos(around), 0, std::sin(around));
  const Vec3 direction = (std::cos(lean) * Vec3::UnitY() + std::sin(lean) * out).normalized();
  return {Vec3(0, low + t * (high - low), 0), rotation_between(Vec3::UnitY(), direction), 1.0 - 0.4 * t};
}

RawCharacter make_palm() {
  RawCharacter plant;
  const Surface trunk = tube(4, 0.16, 0.11, 0.3, 10, 12);
  add_plant_mesh(plant, "wood", trunk);
  Surface crown;
  Scatter scatter;
  for (int k = 0; k < 14; ++k) {
    const Quat around(Eigen::AngleAxisd(whole_turn * k / 14 + 0.3 * scatter.next(), Vec3::UnitY()));
    const Quat up(Eigen::AngleAxisd(scatter.between(-0.1, 0.4), Vec3::UnitZ()));
    append(frond(), {Vec3(0.3, 3.98, 0), around * up, scatter.between(0.8, 1.2)}, crown);
  }
  add_plant_mesh(plant, "leaves", crown);
  return plant;
}

RawCharacter make_grass() {
  RawCharacter plant;
  Surface all;
  Scatter scatter;
  for (int k = 0; k < 180; ++k)
    append(grass_blade(),
           {Vec3(scatter.next() - 0.5, 0, scatter.next() - 0.5),
            Quat(Eigen::AngleAxisd(whole_turn * scatter.next(), Vec3::UnitY())), scatter.between(0.6, 1.4)},
           all);
  add_plant_mesh(plant, "leaves", all);
  return plant;
}

RawCharacter make_bush() {
  RawCharacter plant;
  Surface wood = tube(1, 0.04, 0.03, 0);
  const Surface twig = tube(0.55, 0.02, 0.008, 0.05, 6, 5);
  std::vector<Placed> leaves;
  Scatter scatter;
  for (int k = 0; k < 7; ++k) {
    const Placed place = branch_place(k, 7, 0.3, 0.9, 0.9);
    append(twig, place, wood);
    for (int l = 0; l < 12; ++l) {
      const double t = scatter.between(0.3, 1.0);
      const Vec3 there = place.position + place.scale * (place.rotation * Vec3(0.05 * t * t, 0.55 * t, 0));
      leaves.push_back({there, scatter.turn(), scatter.between(0.5, 0.9)});
    }
  }
  add_plant_mesh(plant, "wood", wood);
  for (const Placed& place : leaves) add_plant_mesh(plant, "leaves", leaf_card(), place);
  return plant;
}

/// The lobed outline of an oak's leaf, along y, as long as the leaves of the scene.
Surface oak_leaf() {
  Surface leaf;
  constexpr int along = 9;
  for (int i = 0; i <= along; ++i) {
    const double t = static_cast<double>(i) / along, wide = std::sin(std::numbers::pi * std::pow(t, 0.8) * 0.97);
    const double half = 0.18 * (0.06 + wide * (1 - 0.22 * (1 + std::cos(6 * std::numbers::pi * t))));
    leaf.vertices.emplace_back(-half, 0.55 * t, 0);
    leaf.vertices.emplace_back(half, 0.55 * t, 0);
  }
  for (int i = 0; i < along; ++i) {
    leaf.triangles.push_back({2 * i, 2 * i + 1, 2 * i + 2});
    leaf.triangles.push_back({2 * i + 1, 2 * i + 3, 2 * i + 2});
  }
  return leaf;
}

/// The oak of the 2011 paper's table as an artist would have it: its branches, and its leaves as cards.
RawCharacter make_oak() {
  const Result<TreePlan> plan = domain_scene("oak", true);
  Surface wood, crown;
  const Surface leaf = oak_leaf();
  std::vector<Surface> rods;
  for (const PartPlan& part : plan->parts) rods.push_back(boundary_surface(std::get<TetMesh>(part.mesh)).surface);
  for (const DomainPlan& domain : plan->domains) {
    const Placed place{domain.position, Quat(domain.rotation), domain.scale};
    const bool is_leaf = plan->parts[to_size(domain.part)].name == "leaf";
    append(is_leaf ? leaf : rods[to_size(domain.part)], place, is_leaf ? crown : wood);
  }
  RawCharacter plant;
  add_plant_mesh(plant, "wood", wood);
  add_plant_mesh(plant, "leaves", crown);
  return plant;
}

RawCharacter make_usual_tree() { return make_tree(12, 50); }

constexpr PlantExample examples[] = {
    {"tree", "A tree of a trunk, twelve branches and 600 leaves, to bake in the wind", make_usual_tree},
    {"palm", "A palm with fourteen fronds", make_palm},
    {"grass", "A tuft of 180 blades of grass", make_grass},
    {"oak", "An oak with 41 branches and 1,394 leaves", make_oak},
    {"bush", "A bush whose leaves are nodes of their own", make_bush},
};

}  // namespace

RawCharacter make_tree(int branches, int leaves) {
  RawCharacter plant;
  Surface wood = tube(5, 0.25, 0.1, 0, 10, 10), crown;
  const Surface branch = tube(2.2, 0.09, 0.03, 0.15, 7, 6);
  Scatter scatter;
  for (int k = 0; k < branches; ++k) {
    const Placed place = branch_place(k, branches, 1.8, 4.8, 1.0);
    append(branch, place, wood);
    for (int l = 0; l < leaves; ++l) {
      const double t = scatter.between(0.25, 1.0);
      const Vec3 along = place.rotation * Vec3(0.15 * t * t, 2.2 * t, 0);
      append(leaf_card(), {place.position + place.scale * along, scatter.turn(), scatter.between(0.8, 1.6)}, crown);
    }
  }
  add_plant_mesh(plant, "wood", wood);
  if (!crown.triangles.empty()) add_plant_mesh(plant, "leaves", crown);
  return plant;
}

std::span<const PlantExample> plant_examples() { return examples; }

const PlantExample* find_plant_example(std::string_view name) {
  for (const PlantExample& example : examples)
    if (example.name == name) return &example;
  return nullptr;
}

Status write_plant(const std::filesystem::path& file, const RawCharacter& plant) {
  CharacterLook look;
  for (const CharacterMesh& mesh : plant.meshes) {
    GlbMaterial material;
    material.color = mesh.name == "wood" ? Color(0.35f, 0.22f, 0.12f) : Color(0.2f, 0.45f, 0.12f);
    material.double_sided = mesh.name != "wood";
    look.materials.push_back(material);
  }
  return write_character(file, plant, look);
}

}  // namespace supple::samples
