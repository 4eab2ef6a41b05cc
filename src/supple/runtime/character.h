// SPDX-License-Identifier: Apache-2.0
// The door for characters: what a game needs to play soft tissue from a `.supple` file, and no more. Plain numbers go
// in and out; this header shows neither Eigen nor any kernel, and compiles in a fraction of a second.
//
//   supple::Result<supple::Character> hero = supple::Character::load("hero.supple");    // once; shared by all
//   supple::Result<supple::CharacterState> state = supple::CharacterState::create(*hero);  // one on the stage
//   every frame:
//     state->set_joint(hero->find_joint("shoulder"), {.rotation = {x, y, z, w}});       // or all joints, or matrices
//     state->advance(seconds_since_the_last_frame);
//     state->bind_displacements(primitive, offsets);   // added to vertices before skinning, in a vertex shader
//
// Units are metres, seconds and newtons; rotations are quaternions x y z w; matrices are 4×4, column after column.
//
// Time. The pose that was set is the pose at the end of the seconds that advance() takes. Flesh moves in fixed steps
// inside, on a grid of its own; poses in between lie on a path without corners through the frames, so that any display
// rate, even or not, gives the same motion (docs/runtime.md says how nearly). What is shown is the state at exactly the
// time that was asked for.
//
// Memory and threads. A Character is immutable and may be read by any number of threads. A CharacterState belongs to
// one thread at a time; different states never wait for each other. After creation nothing here allocates except where
// it is said, and nothing throws. Wrong indices and numbers that aren't finite are ignored.
#pragma once

#include "supple/base/result.h"
#include "supple/runtime/job_loop.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace supple {

struct CharacterData;
struct CharacterStateData;

/// A joint's place in its parent: T(translation) R(rotation) S(scale).
struct JointTransform {
  std::array<float, 3> translation = {0, 0, 0};  ///< [m]
  std::array<float, 4> rotation = {0, 0, 0, 1};  ///< x y z w
  std::array<float, 3> scale = {1, 1, 1};
};

/// One mesh of the character's file. Vertices are welded: those that the file splits along seams are one.
struct CharacterMeshInfo {
  std::string_view name;
  int joint = 0;                            ///< that carries it
  int file_mesh = 0;                        ///< its number in the file
  int first_vertex = 0, vertex_count = 0;   ///< among the character's welded vertices
  int first_primitive = 0, primitives = 0;  ///< among the character's primitives
};

/// One primitive of a mesh, with the vertices of the file in the file's order.
struct CharacterPrimitiveInfo {
  int mesh = 0;
  std::span<const std::int32_t> welded_vertex;  ///< of each vertex of the file; empty: the primitive takes no part
};

class Character {
 public:
  /// Reads a file that `supple build` wrote. Fails with a sentence on anything else.
  static Result<Character> load(const std::string& path);
  /// The same from memory, which may be released afterwards. `name` is for messages.
  static Result<Character> load(std::span<const std::byte> bytes, const std::string& name = "the character");

  std::string_view name() const;
  double height() const;           ///< [m]
  double metres_per_unit() const;  ///< what lengths of the character's file were multiplied with
  int coordinate_count() const;    ///< r, of the soft tissue

  int joint_count() const;
  std::string_view joint_name(int joint) const;
  int joint_parent(int joint) const;  ///< comes before the joint; -1: it has none
  JointTransform joint_rest(int joint) const;
  int find_joint(std::string_view name) const;  ///< -1: there is none

  /// Morph targets of the file, by the names "mesh.target".
  int morph_count() const;
  std::string_view morph_name(int morph) const;
  int find_morph(std::string_view name) const;  ///< -1: there is none
  double morph_neutral(int morph) const;        ///< the weight that it has unless one is set
  /// Whether the morph target corrects a pose: then its weight follows the joints as long as none is set.
  bool morph_follows_pose(int morph) const;

  int vertex_count() const;  ///< welded, of all meshes
  int mesh_count() const;
  CharacterMeshInfo mesh(int mesh) const;
  int primitive_count() const;
  CharacterPrimitiveInfo primitive(int primitive) const;
  /// Three welded vertices each.
  std::span<const std::int32_t> triangles() const;

  // ---- for those who multiply on the graphics card -----------------------------------------------------------------
  // Vertex v hangs on four nodes n_k with weights a_k, and the displacement in the world is
  //   u_v = Σ_k a_k R_n_k Σ_i U_i,n_k c_i
  // with the constant basis U_i of pose i (three rows of r numbers per node), its coordinates c_i of this moment
  // (CharacterState::pose_coordinates) and a rotation per node (CharacterState::node_rotations).

  int node_count() const;
  int pose_count() const;
  /// 3 × node_count() rows of coordinate_count() numbers.
  void node_basis(int pose, std::span<float> rows) const;
  /// Four for each welded vertex.
  void vertex_nodes(std::span<std::uint32_t> nodes) const;
  void vertex_node_weights(std::span<float> weights) const;

  const CharacterData& data() const { return *data_; }

 private:
  explicit Character(std::shared_ptr<const CharacterData> data) : data_(std::move(data)) {}
  std::shared_ptr<const CharacterData> data_;
};

struct CharacterSettings {
  double time_step = 1.0 / 240;  ///< of the grid inside [s]
  double damping = -1;           ///< ratio; negative: that of the asset
  /// About how many steps share the rest shape of one pose: more cost less per step, fewer follow a quick rig better.
  int steps_per_pose = 2;
  int most_pulls = 64;  ///< that set_pulls() can hold
  /// How strongly the motion of the rig drives the flesh, as a multiple of what the asset says.
  double drive = 1;
};

/// A force on a welded vertex, in the world.
struct FleshPull {
  int vertex = 0;
  std::array<float, 3> force = {0, 0, 0};  ///< [N]
};

struct AdvanceReport {
  int steps = 0;           ///< taken inside
  bool recovered = false;  ///< a step broke down, and the flesh was put at rest
};

class CharacterState {
 public:
  /// At rest, joints and morph weights as the file has them. Fails on settings out of range, and where the character
  /// has no soft tissue.
  static Result<CharacterState> create(const Character& character, const CharacterSettings& settings = {});
  CharacterState(CharacterState&&) noexcept;
  CharacterState& operator=(CharacterState&&) noexcept;
  ~CharacterState();

  const Character& character() const;

  // ---- what an engine says -----------------------------------------------------------------------------------------

  /// Joints stay as they were set; before that they are at rest.
  void set_joint(int joint, const JointTransform& local);
  void set_joints(std::span<const JointTransform> locals);
  /// World matrices of all joints, 16 numbers each. Shear is left out.
  void set_world_matrices(std::span<const float> matrices);
  JointTransform joint(int joint) const;
  /// Where the joint is in the world, as set.
  std::array<float, 3> joint_position(int joint) const;
  /// Turns the joints from `root` down to `tip`, from where they are, so that the tip comes to the target, by inverse
  /// kinematics. Returns how far it stays away [m]; negative where the tip doesn't hang below the root. May allocate.
  double reach(int root, int tip, const std::array<float, 3>& target);

  /// A morph weight that is set stays so, whatever the joints do; released, it is neutral or follows the pose again.
  void set_morph(int morph, double weight);
  void release_morph(int morph);
  /// What an engine is to show with the last advance().
  double morph_weight(int morph) const;

  /// Rigs are drawn as gravity leaves them, so by default there is none [m/s²].
  void set_gravity(const std::array<float, 3>& acceleration);
  /// Velocity of the air [m/s], and the share of the velocity against it that flesh loses per second [1/s].
  void set_wind(const std::array<float, 3>& velocity, double drag);
  /// Forces that act until others are set; those beyond CharacterSettings::most_pulls are left out.
  void set_pulls(std::span<const FleshPull> pulls);
  /// Fewer coordinates for a character that is far away; others fade out, or in, over `fade_seconds`.
  void set_detail(int coordinates, double fade_seconds = 0.5);
  int detail() const;  ///< coordinates that the last step computed
  /// Where the origin of all positions here lies in the true world, whose numbers are too large for floats [m].
  void set_origin(const std::array<double, 3>& origin);

  // ---- time --------------------------------------------------------------------------------------------------------

  /// The joints have come to where they were set, in so many seconds. More than a quarter of a second is no motion: the
  /// time that is too much is left out, and the motion starts anew. Zero seconds: joints are where they were set now.
  AdvanceReport advance(double seconds);
  /// The joints will be set elsewhere, and that is no motion (a teleport, a camera cut). The flesh keeps its state.
  void cut();
  /// Flesh at rest, motion forgotten. Joints, weights and forces stay as they were set.
  void reset();

  /// All that the future depends on, but for what is set before it comes. A state of the same character and settings
  /// goes on with the same bits. False where the buffer is too small or of something else.
  std::size_t saved_size() const;
  bool save(std::span<std::byte> buffer) const;
  bool restore(std::span<const std::byte> buffer);

  // ---- what an engine shows ----------------------------------------------------------------------------------------
  // Three numbers per vertex, of the moment that the last advance() has come to. `primitive` asks for the vertices of
  // the file, without it all welded ones are meant. Entries beyond the vertices, or vertices beyond the span, are left.

  /// Displacement by soft tissue, in the world: added to vertices after skinning.
  void displacements(std::span<float> xyz);
  void displacements(int primitive, std::span<float> xyz);
  /// The same before skinning (bind space): added to the vertex after morph targets and before linear skinning. Where
  /// the character is rigged otherwise than engines skin (wires, dual quaternions), the difference is part of it.
  void bind_displacements(std::span<float> xyz);
  void bind_displacements(int primitive, std::span<float> xyz);
  /// Where the vertices are in the world, soft tissue included.
  void positions(std::span<float> xyz);
  void positions(int primitive, std::span<float> xyz);
  /// Unit normals of the welded surface there: smooth across seams and hard edges.
  void normals(std::span<float> xyz);
  void normals(int primitive, std::span<float> xyz);

  /// Elastic and kinetic energy of the flesh on its rig after the last step inside [J].
  std::array<double, 2> energy();

  /// q, and c_i of Character's formula: coordinate_count() numbers.
  void coordinates(std::span<float> q) const;
  void pose_coordinates(int pose, std::span<float> c);
  /// Nine numbers per node, column after column: R_n with the turn of the character in the world.
  void node_rotations(std::span<float> matrices);

 private:
  explicit CharacterState(std::unique_ptr<CharacterStateData> data);
  std::unique_ptr<CharacterStateData> data_;
};

/// advance() of many states at once; they may be of different characters. The bits are those of one after the other.
/// Without a loop that is what happens. Allocates nothing unless the loop does. `reports`, where given, has one entry
/// per state.
void step_all(std::span<CharacterState* const> states, double seconds, JobLoop loop = nullptr, void* user = nullptr,
              std::span<AdvanceReport> reports = {});

/// The same with anything that can be called as loop(count, body), which calls body(i).
template <class Loop>
requires requires(const Loop& loop) {
  loop(std::int64_t{}, [](std::int64_t) {});
}
void step_all(std::span<CharacterState* const> states, double seconds, const Loop& loop) {
  const auto call = [](void* user, std::int64_t count, JobBody body, void* context) {
    (*static_cast<const Loop*>(user))(count, [=](std::int64_t i) { body(context, i); });
  };
  step_all(states, seconds, JobLoop(call), const_cast<void*>(static_cast<const void*>(&loop)));
}

}  // namespace supple
