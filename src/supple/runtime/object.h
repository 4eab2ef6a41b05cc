// SPDX-License-Identifier: Apache-2.0
// The door for deformable objects (2005 paper), and for those made of many parts (2011 paper): what a game needs to
// play a `.supple` file that `supple build` made of a solid body, and no more. Plain numbers go in and out, as in
// character.h, whose rules for threads, memory and wrong input hold here too.
//
//   supple::Result<supple::Object> bridge = supple::Object::load("bridge.supple");       // once; shared by all
//   supple::Result<supple::ObjectState> state = supple::ObjectState::create(*bridge);  // one on the stage
//   every frame:
//     state->set_forces(forces);
//     state->advance(seconds_since_the_last_frame);
//     state->positions(xyz);
//
// Objects that are held somewhere (anchored) deform in place; free ones also move and turn as a whole, in a frame x = c
// + R y, and their displacements are those in the frame. Flesh moves in fixed steps inside; what is shown lies between
// the last two of them, so that any display rate gives the same motion (step_clock.h).
#pragma once

#include "supple/base/result.h"
#include "supple/runtime/job_loop.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace supple {

struct ObjectData;
struct ObjectStateData;

class Object {
 public:
  /// Reads a file that `supple build` wrote. Fails with a sentence on anything else.
  static Result<Object> load(const std::string& path);
  /// The same from memory, which may be released afterwards. `name` is for messages.
  static Result<Object> load(std::span<const std::byte> bytes, const std::string& name = "the object");

  bool anchored() const;         ///< whether some of it is held; otherwise it is free
  int coordinate_count() const;  ///< r; of all parts together
  int domain_count() const;      ///< parts with coordinates of their own: 1, or as many as the model has domains
  double mass() const;           ///< [kg]
  int vertex_count() const;      ///< of the surface that is shown
  /// Three vertices each.
  std::span<const std::int32_t> triangles() const;
  /// Where the vertices are undeformed, three numbers each [m].
  void rest_positions(std::span<float> xyz) const;
  /// Displacements are basis · coordinates: 3 vertex_count() rows of coordinate_count() numbers, for those who multiply
  /// on the graphics card. An object of several domains has no such rows: nothing is written.
  void basis(std::span<float> rows) const;

  const ObjectData& data() const { return *data_; }

 private:
  explicit Object(std::shared_ptr<const ObjectData> data) : data_(std::move(data)) {}
  std::shared_ptr<const ObjectData> data_;
};

struct ObjectSettings {
  double time_step = 1.0 / 1000;                  ///< of the steps inside [s]
  double mass_damping = 0.1;                      ///< α of Rayleigh damping [1/s]
  double stiffness_damping = 0.001;               ///< β [s]
  std::array<float, 3> gravity = {0, -9.81F, 0};  ///< [m/s²]
  int most_forces = 64;                           ///< that set_forces() can hold
};

/// A force on a vertex of the surface, in the world.
struct VertexForce {
  int vertex = 0;
  std::array<float, 3> force = {0, 0, 0};  ///< [N]
};

/// Where a free object is, and how it moves. Anchored ones are where they are carried.
struct ObjectPlace {
  std::array<float, 3> position = {0, 0, 0};     ///< c [m]
  std::array<float, 4> rotation = {0, 0, 0, 1};  ///< R, x y z w
};

struct ObjectReport {
  int steps = 0;           ///< taken inside
  bool recovered = false;  ///< a step broke down and was undone
};

class ObjectState {
 public:
  /// Undeformed, at rest, at the origin. Fails on settings out of range.
  static Result<ObjectState> create(const Object& object, const ObjectSettings& settings = {});
  ObjectState(ObjectState&&) noexcept;
  ObjectState& operator=(ObjectState&&) noexcept;
  ~ObjectState();

  const Object& object() const;

  /// Forces that act until others are set; those beyond ObjectSettings::most_forces are left out.
  void set_forces(std::span<const VertexForce> forces);
  void set_gravity(const std::array<float, 3>& acceleration);
  /// Air that moves [m/s], with gusts and eddies as parts of its speed (domains/wind_field.h). Objects of several
  /// domains feel it, others don't.
  void set_wind(const std::array<float, 3>& velocity, double gusts = 0.5, double turbulence = 0.4);
  /// One of an object's domains swings faster or slower than it was built to: its frequencies, as a factor above zero.
  void set_frequency(int domain, double factor);
  /// An engine's own jobs for objects of so many domains that several threads are worth their while; the bits are those
  /// of one thread. Null: none. `user` must outlive the state's steps.
  void set_jobs(JobLoop loop, void* user = nullptr);
  /// Puts a free object elsewhere, undeformed, with that velocity [m/s] and turning so [1/s]. May allocate.
  void place(const ObjectPlace& place, const std::array<float, 3>& velocity = {0, 0, 0},
             const std::array<float, 3>& angular_velocity = {0, 0, 0});

  /// Moves what holds an object of several domains, such as a bone that carries antlers: where it will be at the end of
  /// the next advance(); where it was created at first. Held objects of one part are drawn elsewhere instead.
  void carry(const ObjectPlace& place);

  /// So many seconds pass; more than a quarter of a second counts as that.
  ObjectReport advance(double seconds);
  /// Undeformed and at rest, where it was created.
  void reset();

  /// All that the future depends on, but for what is set before it comes: a state of the same object and settings goes
  /// on with the same bits. False where the buffer is too small or of something else.
  std::size_t saved_size() const;
  bool save(std::span<std::byte> buffer) const;
  bool restore(std::span<const std::byte> buffer);

  ObjectPlace place() const;
  void coordinates(std::span<float> q) const;
  /// Three numbers per vertex: in the frame of the object, and in the world.
  void displacements(std::span<float> xyz);
  void positions(std::span<float> xyz);

 private:
  explicit ObjectState(std::unique_ptr<ObjectStateData> data);
  std::unique_ptr<ObjectStateData> data_;
};

}  // namespace supple
