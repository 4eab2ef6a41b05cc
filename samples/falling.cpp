// SPDX-License-Identifier: Apache-2.0
#include "samples/falling.h"

#include "samples/shapes.h"
#include "supple/offline/contact/contact_shape_builder.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/meshing/voxelize.h"
#include "supple/offline/modes/modal_basis.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double surface_cell = 0.014;  // [m]
constexpr int voxels_along = 22;
const ElasticMaterial jelly{.name = "jelly", .young = 4e4, .poisson = 0.4, .density = 500};

double ring_distance(const Vec3& p) {
  const double around = std::hypot(p.x(), p.z()) - 0.15;
  return std::hypot(around, p.y()) - 0.045;
}

double jack_distance(const Vec3& p) {
  double distance = p.norm() - 0.05;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 end = 0.15 * Vec3::Unit(axis);
    distance = melted(distance, tapered_distance(p, -end, end, 0.03, 0.03), 0.04);
    for (const double side : {-1.0, 1.0}) distance = melted(distance, (p - side * end).norm() - 0.048, 0.03);
  }
  return distance;
}

double starfish_distance(const Vec3& p) {
  double distance = Vec3(p.x(), 1.5 * p.y(), p.z()).norm() - 0.06;
  for (int arm = 0; arm < 5; ++arm) {
    const double angle = 2 * std::numbers::pi * arm / 5;
    const Vec3 tip(0.2 * std::sin(angle), 0, 0.2 * std::cos(angle));
    distance = melted(distance, tapered_distance(p, Vec3::Zero(), tip, 0.05, 0.022), 0.04);
  }
  return distance;
}

Surface surface_of(const std::string& name) {
  const Vec3 corner = Vec3::Constant(0.24);
  if (name == "ring") return implicit_surface(ring_distance, -corner, corner, surface_cell);
  if (name == "jack") return implicit_surface(jack_distance, -corner, corner, surface_cell);
  return implicit_surface(starfish_distance, -corner, corner, surface_cell);
}

Color color_of(const std::string& name) {
  if (name == "ring") return hex_color(0xe2725b);
  if (name == "jack") return hex_color(0x3f88c5);
  return hex_color(0xf2b134);
}

Eigen::Quaterniond turned(double angle, const Vec3& axis) {
  return Eigen::Quaterniond(Eigen::AngleAxisd(angle, axis.normalized()));
}

}  // namespace

Result<FallingKind> make_falling_kind(const std::string& name, int coordinates, int linear_modes, Progress& progress) {
  FallingKind kind;
  kind.name = name;
  kind.color = color_of(name);
  const Surface surface = surface_of(name);
  Result<VoxelBody> voxels = voxelize(surface, {.resolution = voxels_along});
  SUPPLE_RETURN_IF_ERROR(voxels);
  HexMesh& mesh = voxels->mesh;
  set_uniform_material(mesh, jelly);
  const Result<ElasticBody> body = ElasticBody::create(mesh, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<ModalBasis> basis =
      build_modal_basis(*body, {}, {.linear_modes = linear_modes, .size = coordinates}, progress);
  SUPPLE_RETURN_IF_ERROR(basis);
  Result<SubspaceModel> model = build_subspace_model(mesh, basis->basis, progress);
  SUPPLE_RETURN_IF_ERROR(model);
  const Result<Embedding> embedding = embed(mesh, surface.vertices);
  SUPPLE_RETURN_IF_ERROR(embedding);
  embed_surface(*model, surface, *embedding);
  Result<ContactShape> shape = build_contact_shape(model->surface, {.resolution = 48, .max_points = 300});
  SUPPLE_RETURN_IF_ERROR(shape);
  kind.model = *std::move(model);
  kind.shape = *std::move(shape);
  return kind;
}

Result<FallingObjects> make_falling(int coordinates, int linear_modes, Progress& progress) {
  FallingObjects falling;
  for (const char* name : {"ring", "jack", "starfish"}) {
    Result<FallingKind> kind = make_falling_kind(name, coordinates, linear_modes, progress);
    SUPPLE_RETURN_IF_ERROR(kind);
    falling.kinds.push_back(*std::move(kind));
  }
  falling.settings.stiffness_damping = 2e-3;
  falling.world.contact.stiffness = 4000;
  falling.world.contact.damping = 0.3;
  falling.world.contact.friction = 0.4;
  falling.objects = {
      {0, Vec3(-0.05, 0.35, 0.0), turned(0.4, Vec3(1, 0, 0.4)), Vec3::Zero(), Vec3(0, 0, 1)},
      {1, Vec3(0.06, 0.80, 0.02), turned(0.7, Vec3(1, 1, 0)), Vec3::Zero(), Vec3(2, 1, 0)},
      {2, Vec3(-0.10, 1.20, 0.05), turned(1.1, Vec3(0.3, 0, 1)), Vec3::Zero(), Vec3(1, 3, -2)},
      {0, Vec3(0.08, 1.65, -0.04), turned(1.4, Vec3(1, 0.2, 0)), Vec3::Zero(), Vec3(0, -2, 3)},
      {2, Vec3(0.02, 2.10, 0.05), turned(0.3, Vec3(1, 0, 1)), Vec3::Zero(), Vec3(-2, 2, 1)},
      {1, Vec3(-0.06, 2.55, -0.02), turned(2.0, Vec3(0, 1, 1)), Vec3::Zero(), Vec3(4, 0, 2)},
  };
  return falling;
}

Result<FloatingWorld> start_falling(const FallingObjects& falling) {
  std::vector<FloatingBody> bodies;
  std::vector<ContactShape> shapes;
  for (const FallingObject& object : falling.objects) {
    const FallingKind& kind = falling.kinds[object.kind];
    Result<FloatingBody> body = FloatingBody::create(kind.model, falling.settings);
    SUPPLE_RETURN_IF_ERROR(body);
    body->reset(object.position, object.orientation);
    body->set_velocity({object.velocity, object.angular_velocity, VecX::Zero(kind.model.size())});
    bodies.push_back(*std::move(body));
    shapes.push_back(kind.shape);
  }
  return FloatingWorld::create(std::move(bodies), std::move(shapes), {{}}, falling.world);
}

FallingFilm film_falling(FloatingWorld& world, double seconds, double frames_per_second, Progress& progress) {
  using Clock = std::chrono::steady_clock;
  progress.stage("falling");
  FallingFilm film;
  film.frames_per_second = frames_per_second;
  film.frames.resize(to_size(world.body_count()));
  const int frames = static_cast<int>(std::lround(seconds * frames_per_second));
  const double h = world.body(0).settings().time_step;
  int steps = 0;
  for (int frame = 0; frame <= frames && !progress.cancelled(); ++frame) {
    for (; steps * h < (frame / frames_per_second) - 0.5 * h; ++steps) {
      const auto start = Clock::now();
      world.step();
      const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      film.step_us += us;
      film.worst_step_us = std::max(film.worst_step_us, us);
    }
    for (int k = 0; k < world.body_count(); ++k) {
      auto& shown = film.frames[to_size(k)].emplace_back(world.body(k).surface_rest().size());
      world.body(k).surface_positions(shown);
    }
  }
  film.step_us /= std::max(1, steps);
  return film;
}

}  // namespace supple
