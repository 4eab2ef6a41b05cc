// SPDX-License-Identifier: Apache-2.0
// Recipe: every choice that turns a character's file into a soft body, as a TOML file (docs/recipe.md).
//
// Plain data and defaults; parse_recipe() refuses what it doesn't know with the line it stands in, write_recipe()
// writes the same file with a comment for each choice. What follows from a recipe is in recipe_character.h.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/base/result.h"
#include "supple/fem/material.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/fitting/bones.h"
#include "supple/offline/meshing/tetrahedralize.h"
#include "supple/offline/painting/carry_paint.h"
#include "supple/offline/painting/painted_body.h"
#include "supple/offline/quasistatic/collider.h"
#include "supple/pipeline/character/feel.h"
#include "supple/rig/motion/keyframes.h"

#include <filesystem>
#include <map>

namespace supple {

struct FleshSettings;

/// Clips of another file: all those of a glTF file, or a BVH motion, retargeted.
struct RecipeMotion {
  std::string file;
  std::string name;                          ///< of the clip; BVH only, empty: the file's name
  std::string joint_map;                     ///< BVH only; empty: by roles and names
  std::optional<std::array<int, 2>> frames;  ///< BVH only: first and last, counted from 0; absent: all
  bool level_floor = true;                   ///< BVH only: takes out a drift of the recording's floor
  bool operator==(const RecipeMotion&) const = default;
};

/// A clip written in the recipe.
struct RecipeKeyframes {
  std::string name;
  Interpolation interpolation = Interpolation::linear;
  std::vector<Keyframe> keys;
  bool operator==(const RecipeKeyframes&) const = default;
};

/// Where the tip is at a time.
struct RecipeReachKey {
  double time = 0;             ///< [s]
  Vec3 target = Vec3::Zero();  ///< in the world [m]
  bool operator==(const RecipeReachKey&) const = default;
};

/// A clip in which a chain of joints follows a target (rig/motion/inverse_kinematics.h).
struct RecipeReach {
  std::string name;
  std::string root, tip;          ///< joints at the ends of the chain
  std::string clip;               ///< that moves what the chain doesn't; empty: nothing else moves
  double rate = 30;               ///< frames per second
  std::vector<double> stiffness;  ///< of the joints from the root, 0 to 1; missing ones are 0
  std::optional<Vec3> pole;       ///< chains of two bones: to where the middle joint bends [m]
  std::vector<RecipeReachKey> keys;
  bool operator==(const RecipeReach&) const = default;
};

/// An example pose: a moment of a clip, or a pose that the character's file names.
struct RecipePose {
  std::string name;
  std::string clip;  ///< empty: the pose of that name in the file
  double time = 0;   ///< [s]
  bool operator==(const RecipePose&) const = default;
};

/// [[correction]]: a morph target that an artist sculpted, and the pose that it is for: joints turned from their rest,
/// or a moment of a clip.
struct RecipeCorrection {
  std::string target;               ///< name of the morph target
  std::vector<std::string> joints;  ///< that it follows; empty, with a clip: all
  std::vector<Vec3> rotations;      ///< of each of them [degrees], as keyframes have it; none with a clip
  std::string clip;
  double time = 0;   ///< [s]
  double reach = 0;  ///< [degrees] that its joints may be from its pose; 0: it is interpolated with others
  bool operator==(const RecipeCorrection&) const = default;
};

/// [rig] of an input that is a bare mesh: handles of the research formats (io/motion/handle_rig.h).
struct RecipeHandles {
  std::string file;                  ///< points or bones, .tgf or .json; empty: the input has a rig of its own
  std::string weights;               ///< .dmat; empty: those of the file or, where it has none, bounded biharmonic ones
  std::vector<std::string> motions;  ///< .txt or .json: clips, named after their files
  double rate = 30;                  ///< frames per second of motions that don't say it
  bool operator==(const RecipeHandles&) const = default;
};

/// A curve that moves the skin, through joints of the character.
struct RecipeWire {
  std::string name;
  std::vector<std::string> handles;
  bool operator==(const RecipeWire&) const = default;
};

/// Where the names of a recipe stand in its file, for those who find that one names nothing.
struct RecipeSource {
  std::string file;  ///< empty: not from a file
  std::map<std::string, int>
      lines;  ///< by kind and name: "joint head", "clip walk", "mesh Cape", "pose bent", "paint young", "tip wave"

  void note(std::string_view kind, std::string_view name, int line);
  /// "hero.toml, line 12", or `otherwise` where it isn't known.
  std::string place(std::string_view kind, std::string_view name, const std::string& otherwise) const;
  bool operator==(const RecipeSource&) const { return true; }  ///< recipes are compared by what they say
};

struct RecipePaint {
  PaintQuantity quantity = PaintQuantity::softness;
  std::string attribute;  ///< of the character's meshes, or
  std::string file;       ///< a number per vertex of the character's file, or
  std::string tets;       ///< a number per tetrahedron
  int channel = 0;        ///< of the attribute: r, g, b, a
  std::string pose;       ///< only there; empty: everywhere that has no paint of its own
  std::optional<PaintRange> range;
  double smoothness = CarrySettings{}.smoothness;
  bool operator==(const RecipePaint&) const = default;
};

struct RecipeFlesh;
/// Takes "1.5", a gain, or "5 %", of the height. False for what is neither.
bool set_amount(std::string_view text, RecipeFlesh& flesh);

/// What is painted where, which a recipe does once: "young", or 'young in the pose "bent"'.
std::string paint_name(const RecipePaint& paint);

struct RecipeMaterial {
  MaterialModel model = MaterialModel::flesh;
  std::optional<double> young;  ///< [Pa]
  /// [Hz], where `young` isn't given: see offline/fitting/flesh_frequency.h. Absent: as the feel has it.
  std::optional<double> frequency;
  double poisson = 0.45;
  double density = 1000;  ///< [kg/m³]
  bool operator==(const RecipeMaterial&) const = default;
};

/// [[region]]: what hangs on some joints is softer or firmer.
struct RecipeRegion {
  std::vector<std::string> joints;
  double softness = 1;  ///< divides Young's modulus
  bool operator==(const RecipeRegion&) const = default;
};

/// [[local]]: a part of the body with modes of its own, where some joints' bones, points or segments [m] are.
struct RecipeLocal {
  std::string name;
  std::vector<std::string> joints;
  std::vector<Vec3> points;
  std::vector<std::array<Vec3, 2>> segments;
  int modes = 0;  ///< 0: a share of the body's coordinates
  bool operator==(const RecipeLocal&) const = default;
};

/// How near to the simulation of every vertex a body shall be.
enum class Quality { draft, good, final };
std::string_view to_string(Quality quality);
std::optional<Quality> quality_from(std::string_view name);

/// [flesh]: how the body is reduced and how it moves.
struct RecipeFlesh {
  Quality quality = Quality::good;
  int size = 0;  ///< r: coordinates; 0: as many as `quality` needs
  Feel feel = Feel::natural;
  std::optional<double> damping;  ///< damping ratio; absent: as the feel has it
  double amount = 1;              ///< gain of what drives the flesh
  double share = 0;   ///< of the height that the skin moves by at most in the liveliest clip of a bake; 0: as it comes
  bool limit = true;  ///< of violent moments, see bearable_acceleration()
  /// Reduced models, the neutral pose included: at most so many of the recipe's poses, or, where it has none, of its
  /// clips. 0: all of the recipe's, none of its clips.
  int poses = 0;
  /// [degrees]: clips' poses in which flesh moves so much differently are taken too, and between poses whose bases
  /// differ more than this others are inserted, up to `poses`. 0: never.
  double angle = 45;
  bool fit = false;  ///< rest shapes fitted to the skin in all poses of the model
  BasisDirections directions = BasisDirections::rotating;
  bool local = false;    ///< bases of parts, [[local]], instead of the whole body's; a file that names parts means true
  bool contact = false;  ///< what touches in one of the model's poses stays as it touches
  // For the quasistatic engine.
  double friction = 0;      ///< Coulomb's coefficient of flesh against itself
  bool inertia = false;     ///< flesh swings, in implicit time steps, instead of being at rest in every frame
  bool biharmonic = false;  ///< flesh turns by bounded biharmonic weights instead of the skin's
  bool operator==(const RecipeFlesh&) const = default;
};

struct Recipe {
  // Paths are as the file has them, relative to its folder.
  std::string input;
  double scale = 1;                               ///< metres per unit of the input
  std::optional<std::vector<std::string>> clips;  ///< of the input; absent: all
  RecipeHandles handles;
  bool dual_quaternions = false;
  std::vector<RecipeWire> wires;  ///< in place of skinning, where there are any
  // [body]
  std::string body_mesh;       ///< tetrahedra in place of the mesher's; empty: none
  bool file_materials = true;  ///< those of its regions go before [material]
  int tets = TetMeshingOptions{}.tets;
  bool keep_separate = true;
  bool graded = false;
  std::vector<std::string> exclude;  ///< meshes
  // [bones]
  double bone_radius = 0;  ///< share of the body's diagonal
  std::vector<std::string> soft;
  std::optional<std::vector<std::string>> rigid;  ///< absent: the head, where it is found
  bool find_hard_parts = true;

  RecipeMaterial material;
  RecipeFlesh flesh;
  std::vector<RecipeRegion> regions;
  std::vector<RecipeLocal> locals;  ///< none: from the skeleton
  std::vector<Collider> colliders;  ///< in the world that the clips are in [m]; for the quasistatic engine
  std::vector<RecipePaint> paints;
  std::vector<RecipePose> poses;
  std::optional<std::vector<RecipeCorrection>> corrections;  ///< absent: those that names of morph targets tell
  std::vector<RecipeMotion> motions;
  std::vector<RecipeKeyframes> keyframes;
  std::vector<RecipeReach> reaches;
  RecipeSource source;

  /// What was asked for (pipeline/bake_file.h) goes before what the recipe says.
  void apply(const FleshSettings& settings);
  TetMeshingOptions meshing() const;
  BoneSettings bones() const;
  /// What the unpainted body is made of, given its largest extent [m].
  ElasticMaterial base_material(double size) const;
  bool operator==(const Recipe&) const = default;
};

/// A first guess, before the body's own flesh_frequency() is known. Young's modulus [Pa] that lets flesh a tenth of the
/// body's size thick sway f times a second on what it sits on: the first shear mode of a layer held on one side, f =
/// √(G/ρ) / 4t, and E = 2 (1 + ν) G.
double young_for_frequency(double frequency, double size, double poisson, double density);

/// Files that the recipe names must exist in `folder`.
Result<Recipe> parse_recipe(std::string_view text, const std::string& name, const std::filesystem::path& folder);
Result<Recipe> load_recipe(const std::filesystem::path& path);
/// Whether a TOML text means a recipe and not a scene: it names an input.
bool looks_like_recipe(std::string_view text);

/// Remarks for the reader of a written recipe: what was found, by the key it belongs to ("clips", "body.tets").
/// "" heads the file.
using RecipeNotes = std::map<std::string, std::string>;

std::string write_recipe(const Recipe& recipe, const RecipeNotes& notes = {});

}  // namespace supple
