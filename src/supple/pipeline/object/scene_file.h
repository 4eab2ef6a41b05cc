// SPDX-License-Identifier: Apache-2.0
// Scene: one body, what holds and pushes it, and how its motion or equilibrium is computed. SI units throughout.
//
// A scene comes from a TOML file (docs/scene.md describes every key) or is filled in by a program. Reading it checks
// names and ranges; what depends on the mesh, such as selections, is checked by solve_scene.h before work begins.
#pragma once

#include "supple/fem/dynamics.h"
#include "supple/fem/statics.h"
#include "supple/offline/domains/joint_plan.h"
#include "supple/offline/meshing/voxelize.h"
#include "supple/pipeline/object/base_bone.h"
#include "supple/runtime/domains/wind_field.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

/// A box that is made by the program instead of being read from a file.
struct SceneBox {
  Vec3 size = Vec3(1, 0.1, 0.1);  ///< [m]
  std::array<int, 3> cells = {40, 4, 4};
  bool bricks = false;  ///< else each cell is cut into six tetrahedra
};

/// Values of a material. Those that are given replace the mesh file's; the others stay.
struct SceneMaterial {
  std::optional<double> young;    ///< [Pa]
  std::optional<double> poisson;  ///< -1 < ν < 0.5
  std::optional<double> density;  ///< [kg/m³]
};

/// Elements with a material of their own, named in one of three ways.
struct SceneRegion {
  std::string set;                ///< name of an element set of the mesh
  std::string select;             ///< elements whose centre is selected
  std::filesystem::path surface;  ///< elements whose centre lies inside this closed surface
  SceneMaterial material;
};

/// Materials of a reduced model that change when it runs: every group, or those of one name.
struct SceneGroup {
  std::string name;  ///< empty: all
  SceneMaterial material;
};

/// How a body becomes a subspace model (pipeline/object/build_subspace.h).
struct SceneReduction {
  int linear_modes = 20;
  int size = 0;  ///< r; 0 takes the suggested size, at most default_largest_size
  bool anchored = false;
  std::filesystem::path sketch;  ///< a recording; empty: modes and their derivatives
  static constexpr int default_largest_size = 30;
};

/// A part of the body that is a domain of its own (pipeline/object/domain_scene.h).
struct SceneDomain {
  std::string name;
  SceneRegion elements;                ///< its materials aren't looked at
  int size = -1;                       ///< r; 0: rigid, −1: as [domains] says
  double frequency = 1.0;              ///< of this domain, as a factor
  JointPlan joint;                     ///< on its parent
  std::optional<MaterialModel> model;  ///< none: as [material] says
};

/// Who says where domains are: [[domain]], or the shape of the body.
enum class SceneCut { by_hand, branches, necks };
/// What becomes of domains that touch in a loop.
enum class SceneLoops { refuse, merge, close };

/// A loop of domains, held together where two of them touch or where the ground holds one.
struct SceneLoop {
  std::array<std::string, 2> between;  ///< a second one that is empty: the ground
  double stiffness = 0;                ///< of the spring there [N/m]; 0: nothing gives way
  bool turns = false;                  ///< held in a point, free to turn
};

/// How the subtree of a domain is felt by its parent.
enum class SceneInertia { full, centre, interface };

struct SceneDomains {
  std::vector<SceneDomain> parts;  ///< later ones win where they overlap; none: the body is one
  std::string root;                ///< empty: the one that is held, else the largest
  int size = 20;
  SceneInertia inertia = SceneInertia::full;
  int iterations = 1;  ///< of Newton's method in each step
  SceneCut cut = SceneCut::by_hand;
  SceneLoops loops = SceneLoops::refuse;
  std::vector<SceneLoop> closed;  ///< loops whose place or stiffness is said
  double narrow = 0.7;            ///< how narrow a neck is
  int total = 0;                  ///< coordinates of all domains together; 0: as `size` says
  double smooth = 0;              ///< how far around interfaces the surface is blended [m]; 0: C0

  bool any() const { return cut != SceneCut::by_hand || !parts.empty(); }
};

/// When a load acts [s]. Only dynamic scenes have windows.
struct TimeWindow {
  double start = -std::numeric_limits<double>::infinity();
  double end = std::numeric_limits<double>::infinity();
  bool contains(double time) const { return time >= start && time < end; }
  bool always() const { return !(start > 0) && end == std::numeric_limits<double>::infinity(); }
};

/// Selections are those of io/mesh/vertex_selection.h.
struct SceneForce {
  std::string select;
  Vec3 newtons = Vec3::Zero();
  bool per_vertex = false;  ///< else the force is the total, shared evenly
  TimeWindow window;
};

/// A traction on the boundary faces whose vertices are all selected.
struct SceneTraction {
  std::string select;
  Vec3 pascals = Vec3::Zero();
  TimeWindow window;
};

struct ScenePressure {
  std::string select;
  double pascals = 0;
  TimeWindow window;
};

/// A column group of the history table: the mean displacement of the selected vertices.
struct SceneTrack {
  std::string name;
  std::string select;
};

struct SceneOutput {
  std::filesystem::path directory;  ///< empty: nothing is written
  int every = 1;                    ///< dynamic: one .vtu per this many steps; 0 for none
};

struct Scene {
  std::string name;              ///< of the scene file or mesh, for messages
  std::filesystem::path folder;  ///< relative paths in selections and meshes start here
  std::filesystem::path mesh;    ///< empty: the box
  SceneBox box;
  std::optional<VoxelOptions> voxels;  ///< makes bricks of a mesh that is a surface
  MaterialModel model = MaterialModel::stable_neo_hookean;
  bool model_given = false;  ///< by the file, not by default
  SceneMaterial material;
  std::vector<SceneRegion> regions;  ///< later ones win where they overlap
  std::vector<SceneGroup> groups;
  SceneReduction reduction;
  SceneDomains domains;
  std::optional<WindField> wind;
  std::optional<BaseBone> base;  ///< what moves the root of domains; none: the ground
  std::vector<std::string> fixed;
  Vec3 gravity = Vec3::Zero();  ///< [m/s²]
  std::vector<SceneForce> forces;
  std::vector<SceneTraction> tractions;
  std::vector<ScenePressure> pressures;
  bool dynamic = false;
  double duration = 1.0;  ///< [s]
  DynamicsSettings dynamics;
  StaticsSettings statics;
  std::vector<SceneTrack> tracks;
  SceneOutput output;

  /// Whole time steps in the duration, at least one.
  int step_count() const;
};

/// What a scene is read for. One that is only built into a model needs no solver.
enum class SceneUse { run, build };

/// Errors name the file, the line and the key, and the nearest key that exists where one is unknown.
Result<Scene> parse_scene(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                          SceneUse use = SceneUse::run);
Result<Scene> load_scene(const std::filesystem::path& path, SceneUse use = SceneUse::run);

}  // namespace supple
