// SPDX-License-Identifier: Apache-2.0
#include "samples/creature.h"

#include "samples/creature_corrections.h"
#include "samples/shapes.h"
#include "supple/rig/motion/keyframes.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

using std::numbers::pi;

std::vector<Vec3> ring(const Vec3& center, const Vec3& u, const Vec3& v, int segments) {
  std::vector<Vec3> points;
  for (int k = 0; k < segments; ++k) {
    const double angle = 2 * pi * k / segments;
    points.push_back(center + std::cos(angle) * u + std::sin(angle) * v);
  }
  return points;
}

Surface ball_surface(const Detail& detail) {
  const Mat3 axes = euler_rotation(detail.turn).toRotationMatrix() * detail.radii.asDiagonal();
  const int rows = detail.segments / 2;
  std::vector<std::vector<Vec3>> rings;
  for (int k = 1; k < rows; ++k) {
    const double angle = pi * k / rows;
    rings.push_back(ring(detail.a - std::cos(angle) * axes.col(2), std::sin(angle) * axes.col(0),
                         std::sin(angle) * axes.col(1), detail.segments));
  }
  Surface surface;
  add_loft(surface, rings, detail.a - axes.col(2), detail.a + axes.col(2));
  return surface;
}

Surface claw_surface(const Detail& detail) {
  const Vec3 along = (detail.b - detail.a).normalized();
  const Vec3 u = along.unitOrthogonal(), v = along.cross(u);
  const int rows = 4;
  std::vector<std::vector<Vec3>> rings;
  for (int k = 0; k < rows; ++k) {
    const double t = static_cast<double>(k) / rows;
    const Vec3 center = detail.a + t * (detail.b - detail.a) + 4 * t * (1 - t) * detail.curve;
    const double radius = detail.radii[0] * (1 - t * t);
    rings.push_back(ring(center, radius * u, radius * v, detail.segments));
  }
  Surface surface;
  add_loft(surface, rings, detail.a - 0.3 * detail.radii[0] * along, detail.b);
  return surface;
}

Detail mirrored(const Creature& creature, Detail detail) {
  const Vec3 flip(-1, 1, 1);
  detail.a = detail.a.cwiseProduct(flip);
  detail.b = detail.b.cwiseProduct(flip);
  detail.curve = detail.curve.cwiseProduct(flip);
  detail.turn = detail.turn.cwiseProduct(Vec3(1, -1, -1));
  detail.joint = creature.twin(detail.joint);
  return detail;
}

void add_detail(const Detail& detail, CharacterMesh& mesh, VertexAttribute& colors) {
  const Surface part = detail.shape == Detail::Shape::ball ? ball_surface(detail) : claw_surface(detail);
  const Color color = to_linear(detail.color);
  append(mesh.surface, part);
  for (std::size_t v = 0; v < part.vertices.size(); ++v) {
    colors.values.insert(colors.values.end(), {color[0], color[1], color[2]});
    mesh.weights.joint.push_back(detail.joint);
    mesh.weights.weight.push_back(1.0);
    mesh.weights.first.push_back(static_cast<Index>(mesh.weights.joint.size()));
  }
}

CharacterMesh details_mesh(const Creature& creature) {
  CharacterMesh mesh;
  mesh.name = details_name(creature);
  mesh.weights.first.push_back(0);
  VertexAttribute colors{"COLOR_0", 3, {}};
  for (const Detail& detail : creature.details) {
    add_detail(detail, mesh, colors);
    if (detail.both_sides) add_detail(mirrored(creature, detail), mesh, colors);
  }
  mesh.surface.attributes.push_back(std::move(colors));
  return mesh;
}

Skin make_skin(const Creature& creature) {
  Skin skin;
  skin.name = creature.name;
  for (std::size_t j = 0; j < creature.joints.size(); ++j) {
    Affine inverse = Affine::Identity();
    inverse.translation() = -creature.joints[j];
    skin.joints.push_back(static_cast<Index>(j));
    skin.inverse_bind.push_back(inverse);
  }
  return skin;
}

void add_mesh(CharacterMesh mesh, RawCharacter& character) {
  mesh.node = character.skeleton.size();
  mesh.skin = 0;
  mesh.default_target_weights.assign(mesh.targets.size(), 0.0);
  Joint node;
  node.name = mesh.name;
  character.skeleton.joints.push_back(node);
  mesh.surface.parts = {{mesh.name, 0, static_cast<Index>(mesh.surface.triangles.size())}};
  character.meshes.push_back(std::move(mesh));
}

}  // namespace

std::string details_name(const Creature& creature) { return creature.name + "_details"; }

RawCharacter make_character(const Creature& creature, Index vertex_count) {
  RawCharacter character;
  character.name = creature.name;
  character.skeleton = creature.skeleton();
  character.skins.push_back(make_skin(creature));
  character.clips = creature.clips;
  CharacterMesh details = details_mesh(creature);
  CharacterMesh body;
  body.name = creature.name;
  body.surface = creature_surface(creature, vertex_count - static_cast<Index>(details.surface.vertices.size()));
  paint_creature(creature, body.surface);
  body.weights = creature_weights(creature, body.surface);
  body.targets = correction_targets(creature, body.surface, character.skins.front(), body.weights);
  add_mesh(std::move(body), character);
  if (!details.surface.vertices.empty()) add_mesh(std::move(details), character);
  if (!character.meshes.front().targets.empty())
    add_correction_weights(creature, character.meshes.front().node, character.clips);
  return character;
}

}  // namespace supple
