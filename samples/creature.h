// SPDX-License-Identifier: Apache-2.0
// Creatures: characters modelled by code, from blended round shapes to a skinned, animated RawCharacter.
//
// The skin is the zero level of a field made of parts, each a ball or a tapered rod that hangs on a joint:
//   f = melted(f, part; k),   melted(a, b; k) = min(a, b) − h² / 4k,  h = max(k − |a − b|, 0)
// so that two parts nearer than their blend radius k flow into each other; carved parts are taken away the same way.
// Parts make up limbs. A limb flows into the creature only within `reach` of the place where it is attached: an arm
// grows out of its shoulder but stays apart from the flank it hangs beside.
//
// Creatures are symmetric, unless they say otherwise: whatever lies at x ≥ 0 is also at −x, exactly, because the field
// is evaluated at |x|. The left side is described, and joints named left_… get a right_… twin. y is up, z is forward,
// lengths are metres. Joints have no rotation at rest, so that a pose turns them about the axes of the world.
#pragma once

#include "supple/io/image/color.h"
#include "supple/rig/example_pose.h"
#include "supple/rig/raw_character.h"

namespace supple {

struct Part {
  enum class Shape { rod, ball };
  Shape shape = Shape::ball;
  Vec3 a = Vec3::Zero(), b = Vec3::Zero();  ///< ends of a rod; a: centre of a ball
  double radius_a = 0, radius_b = 0;        ///< of a rod
  Vec3 radii = Vec3::Ones();                ///< of a ball, along its axes
  Mat3 axes = Mat3::Identity();             ///< of a ball, in columns
  Index joint = 0;
  double blend = 0.02;
  Color color = Color::Ones();
  bool carve = false;
  bool skins = true;  ///< false: shapes the surface, but nothing hangs on its joint because of it
};

struct Limb {
  std::string name;
  double blend = 0.02;         ///< with what comes before it
  Vec3 attach = Vec3::Zero();  ///< where it grows out of the creature …
  double reach = 0;            ///< … and how far from there they flow together; 0: everywhere
  std::vector<Part> parts;

  Part& rod(Index joint, const Vec3& a, double radius_a, const Vec3& b, double radius_b);
  /// `turn`: degrees about x, then y, then z.
  Part& ball(Index joint, const Vec3& center, const Vec3& radii, const Vec3& turn = Vec3::Zero());
  /// A ball stretched from one point to another: a muscle.
  Part& muscle(Index joint, const Vec3& from, const Vec3& to, double radius);

  /// Takes a ball away.
  Part& carve_ball(const Vec3& center, const Vec3& radii, double blend_radius);

  Color color = Color(0.8f, 0.8f, 0.8f);                        ///< of the parts to come
  double part_blend = 0.02;                                     ///< likewise
  Vec3 low = Vec3::Constant(1e9), high = Vec3::Constant(-1e9);  ///< a box around the parts

 private:
  Part& add(const Part& part, const Vec3& end, double radius);
};

/// Paint on the skin where a ball reaches it.
struct PaintSpot {
  Vec3 center, radii;
  Color color;
  double softness = 0.4;  ///< width of the border as a part of the radii
  bool both_sides = true;
};

/// A small rigid thing of its own: an eye, a nose, a claw.
struct Detail {
  enum class Shape { ball, claw };
  Shape shape = Shape::ball;
  Vec3 a, b = Vec3::Zero();   ///< a: centre of a ball; from root a to tip b of a claw
  Vec3 radii = Vec3::Ones();  ///< of a ball; [0]: of a claw at its root
  Vec3 turn = Vec3::Zero();   ///< of a ball, degrees about x, y, z
  Vec3 curve = Vec3::Zero();  ///< how far the middle of a claw is bent aside
  Index joint = 0;
  Color color = Color::Zero();
  int segments = 12;
  bool both_sides = true;
};

/// Within the ball the skin has four triangles instead of one: faces and hands.
struct Focus {
  Vec3 center;
  double radius = 0;
  bool both_sides = true;
};

/// Shape added to the skin in a corrected pose, before skinning: within the ball, `swell` along the normal and `shift`.
struct Bulge {
  Vec3 center, radii;
  double swell = 0;
  Vec3 shift = Vec3::Zero();
};

/// One of the example poses, and how it is corrected. Volume that linear skinning loses is given back automatically.
struct CreaturePose {
  ExamplePose pose;
  std::vector<Bulge> bulges;
};

struct ChainLink {
  Index joint = 0;
  Vec3 center = Vec3::Zero();
};

/// A curve through joints, which moves the skin in our own rig.
struct CreatureWire {
  std::string name;
  std::vector<std::string> handles;
};

/// A part with modes of its own.
struct CreaturePatch {
  std::string name;
  std::vector<std::string> joints;
  int modes = 0;
};

struct Creature {
  std::string name;
  std::vector<std::string> joint_names;
  std::vector<Index> parents;
  std::vector<Vec3> joints;  ///< places in the rest pose
  std::vector<Limb> limbs;
  std::vector<PaintSpot> spots;
  std::vector<Detail> details;
  std::vector<Focus> focus;
  std::vector<CreaturePose> poses;
  std::vector<Clip> clips;
  double mottle = 0.0;        ///< strength of a slight variation of colour
  double weight_reach = 0.5;  ///< how wide the skin blends from joint to joint, as a part of the parts' thickness
  int weight_smoothing = 8;
  bool symmetric = true;
  /// Where given, the skin hangs on these links instead of on parts: at a link's centre on its joint alone, between two
  /// centres on both.
  std::vector<ChainLink> chain;
  std::vector<CreatureWire> wires;
  std::vector<CreaturePatch> patches;
  double frequency = 4;  ///< how often the flesh sways in a second [Hz], as [material] of recipes has it

  Index add_joint(std::string joint_name, Index parent, const Vec3& place);
  Index joint(const std::string& joint_name) const;  ///< there must be one
  Limb& add_limb(std::string limb_name, double blend, const Vec3& attach = Vec3::Zero(), double reach = 0);
  /// Adds the right_… twin of every left_… joint; call it after the last joint.
  void mirror_joints();
  /// The joint on the other side, or the joint itself.
  Index twin(Index joint_index) const;
  /// The left joint given, or its twin.
  Index on_side(Index left, bool right) const { return right ? twin(left) : left; }
  const Vec3& place(Index joint_index) const { return joints[to_size(joint_index)]; }
  Skeleton skeleton() const;
  double value(const Vec3& x) const;  ///< the field: negative inside
  Vec3 normal(const Vec3& x) const;
};

/// What make_character() calls the mesh of the details.
std::string details_name(const Creature& creature);

/// The skin of a creature with about as many vertices as asked for (within 3 %), well shaped and closed.
Surface creature_surface(const Creature& creature, Index vertex_count);

/// Linear colours "COLOR_0", darker where the skin folds, as the light would be.
void paint_creature(const Creature& creature, Surface& surface);

/// At most four joints per vertex. They spread along the skin only, so what lies apart stays apart.
SkinWeights creature_weights(const Creature& creature, const Surface& surface);

/// Skin and details as meshes on one skeleton, corrections as morph targets of the skin, clips with the weights of the
/// corrections in them. `vertex_count` is that of all meshes together.
RawCharacter make_character(const Creature& creature, Index vertex_count);

}  // namespace supple
