// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/bones.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/fem/element.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/normals.h"
#include "supple/offline/fitting/flesh_stiffness.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace supple {
namespace {

/// A piece of surface is a trinket when it has less than this share of the skin's area.
constexpr double trinket_share = 0.15;

constexpr std::string_view hard_words[] = {"eye",    "teeth", "tooth", "horn",   "antler", "hoof",  "hooves",
                                           "claw",   "tusk",  "beak",  "helmet", "weapon", "sword", "axe",
                                           "shield", "knife", "gun",   "staff",  "glasses"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool named_hard(std::string_view name) {
  const std::string text = lower(name);
  // Lids and brows are skin around something hard.
  for (const std::string_view soft : {"eyelid", "eyebrow", "eye_lid", "eye_brow"})
    if (text.find(soft) != text.npos) return false;
  return std::any_of(std::begin(hard_words), std::end(hard_words),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

Result<std::vector<char>> joints_named(const Skeleton& skeleton, std::span<const std::string> names) {
  std::vector<char> chosen(skeleton.joints.size(), 0);
  std::vector<std::string_view> all;
  for (const Joint& joint : skeleton.joints) all.push_back(joint.name);
  for (const std::string& name : names) {
    const Index joint = find_joint(skeleton, name);
    if (joint < 0) {
      const std::string_view near = nearest_name(name, all);
      return input_error(fmt::format("there is no joint \"{}\"{}", name,
                                     near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
    }
    chosen[to_size(joint)] = 1;
  }
  return chosen;
}

/// Σ w and Σ w x of the skin on every joint, in the rig's neutral pose.
struct JointFlesh {
  std::vector<double> weight;
  std::vector<Vec3> center;
};

JointFlesh flesh_of(const RawCharacter& character, const CharacterRig& rig, std::span<const Vec3> skin) {
  JointFlesh flesh{std::vector<double>(character.skeleton.joints.size(), 0.0),
                   std::vector<Vec3>(character.skeleton.joints.size(), Vec3::Zero())};
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    const CharacterMesh& mesh = character.meshes[m];
    if (mesh.skin < 0) continue;
    const Skin& bound = character.skins[to_size(mesh.skin)];
    for (Index v = 0; v < mesh.weights.vertex_count(); ++v) {
      const Vec3& x = skin[to_size(rig.first_vertex()[m] + v)];
      for (Index k = mesh.weights.first[to_size(v)]; k < mesh.weights.first[to_size(v) + 1]; ++k) {
        const Index joint = bound.joints[to_size(mesh.weights.joint[to_size(k)])];
        const double w = mesh.weights.weight[to_size(k)];
        flesh.weight[to_size(joint)] += w;
        flesh.center[to_size(joint)] += w * x;
      }
    }
  }
  for (std::size_t j = 0; j < flesh.weight.size(); ++j)
    if (flesh.weight[j] > 0) flesh.center[j] /= flesh.weight[j];
  return flesh;
}

/// How far the flesh of a joint reaches along an axis from the joint, and how far it lies from that axis in the mean of
/// squares.
struct FleshReach {
  double along = 0;
  double beside = 0;
};

FleshReach reach_of(const RawCharacter& character, const CharacterRig& rig, std::span<const Vec3> skin, Index joint,
                    const Vec3& from, const Vec3& axis) {
  FleshReach reach;
  double squares = 0, total = 0;
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    const CharacterMesh& mesh = character.meshes[m];
    if (mesh.skin < 0) continue;
    const Skin& bound = character.skins[to_size(mesh.skin)];
    for (Index v = 0; v < mesh.weights.vertex_count(); ++v) {
      for (Index k = mesh.weights.first[to_size(v)]; k < mesh.weights.first[to_size(v) + 1]; ++k) {
        const double w = mesh.weights.weight[to_size(k)];
        if (bound.joints[to_size(mesh.weights.joint[to_size(k)])] != joint || w < 0.5) continue;
        const Vec3 x = skin[to_size(rig.first_vertex()[m] + v)] - from;
        const double along = x.dot(axis);
        reach.along = std::max(reach.along, along);
        squares += w * (x - along * axis).squaredNorm();
        total += w;
      }
    }
  }
  if (total > 0) reach.beside = std::sqrt(squares / total);
  return reach;
}

/// Where the last bone of a chain ends: in the middle of its flesh or, where that is long and thin, as of fingers, ears
/// and tails, near its tip. What would hang beyond a bone there flaps.
Vec3 end_of_chain(const RawCharacter& character, const CharacterRig& rig, std::span<const Vec3> skin, Index joint,
                  const Vec3& from, const Vec3& centre) {
  constexpr double slender = 1.5, almost = 0.9;
  const double length = (centre - from).norm();
  if (!(length > 0)) return centre;
  const Vec3 axis = (centre - from) / length;
  const FleshReach reach = reach_of(character, rig, skin, joint, from, axis);
  if (reach.along < slender * 2 * reach.beside || almost * reach.along < length) return centre;
  return from + almost * reach.along * axis;
}

/// The joint that holds almost all of a vertex, or -1.
Index only_joint(const CharacterMesh& mesh, const Skin& skin, Index v) {
  for (Index k = mesh.weights.first[to_size(v)]; k < mesh.weights.first[to_size(v) + 1]; ++k) {
    if (mesh.weights.weight[to_size(k)] > 0.99) return skin.joints[to_size(mesh.weights.joint[to_size(k)])];
  }
  return -1;
}

/// Small separate pieces that hang on one joint.
void mark_small_pieces(const CharacterMesh& mesh, const Skin& skin, double total_area, std::span<char> hard) {
  const std::size_t count = mesh.surface.vertices.size();
  DisjointSets pieces(count);
  for (const Triangle& t : mesh.surface.triangles) {
    pieces.unite(t[0], t[1]);
    pieces.unite(t[0], t[2]);
  }
  std::vector<double> area(count, 0.0);
  std::vector<Index> joint(count, -2);  // of the piece's vertices: -2 none seen yet, -1 several
  for (const Triangle& t : mesh.surface.triangles)
    area[to_size(pieces.find(t[0]))] += area_vector(t, mesh.surface.vertices).norm();
  for (Index v = 0; v < static_cast<Index>(count); ++v) {
    Index& seen = joint[to_size(pieces.find(v))];
    const Index own = only_joint(mesh, skin, v);
    seen = seen == -2 || seen == own ? own : -1;
  }
  for (Index v = 0; v < static_cast<Index>(count); ++v) {
    const auto piece = to_size(pieces.find(v));
    if (joint[piece] >= 0 && area[piece] < trinket_share * total_area) hard[to_size(v)] = 1;
  }
}

void mark_named_parts(const CharacterMesh& mesh, std::span<char> hard) {
  if (named_hard(mesh.name)) std::fill(hard.begin(), hard.end(), char{1});
  for (const SurfacePart& part : mesh.surface.parts) {
    if (!named_hard(part.name)) continue;
    for (Index t = part.first_triangle; t < part.first_triangle + part.triangle_count; ++t)
      for (const Index v : mesh.surface.triangles[to_size(t)]) hard[to_size(v)] = 1;
  }
}

double distance_to_segment(const Vec3& x, const Vec3& from, const Vec3& to) {
  const Vec3 d = to - from;
  const double length2 = d.squaredNorm();
  const double t = length2 > 0 ? std::clamp((x - from).dot(d) / length2, 0.0, 1.0) : 0.0;
  return (x - from - t * d).norm();
}

/// Holds the corners of a tetrahedron that a bone crosses. Where flesh is thick, a bone isn't as thick as a
/// tetrahedron: there only the nearer half of them is held.
void hold_near(const std::array<Index, 4>& element, const std::array<Vec3, 4>& corners,
               std::span<const BoneSegment> bones, double thickness, std::vector<char>& fixed) {
  constexpr double thick = 3.5;  // edges
  double edge = 0;
  for (std::size_t i = 1; i < 4; ++i) edge += (corners[i] - corners[0]).norm() / 3;
  std::array<std::pair<double, Index>, 4> near;
  for (std::size_t i = 0; i < 4; ++i) {
    near[i] = {std::numeric_limits<double>::infinity(), element[i]};
    for (const BoneSegment& bone : bones)
      near[i].first = std::min(near[i].first, distance_to_segment(corners[i], bone.from, bone.to));
  }
  std::sort(near.begin(), near.end());
  const std::size_t count = thickness > thick * edge ? 2 : 4;
  for (std::size_t i = 0; i < count; ++i) fixed[to_size(near[i].second)] = 1;
}

}  // namespace

bool crosses(const std::array<Vec3, 4>& tet, const Vec3& from, const Vec3& to) {
  // The part of the segment on the inner side of all four faces.
  constexpr int faces[4][4] = {{1, 3, 2, 0}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 2, 3}};
  double begin = 0, end = 1;
  for (const auto& face : faces) {
    const auto at = [&](int k) -> const Vec3& { return tet[to_size(face[k])]; };
    Vec3 normal = (at(1) - at(0)).cross(at(2) - at(0));
    if (normal.dot(at(3) - at(0)) < 0) normal = -normal;
    const double a = normal.dot(from - at(0));
    const double b = normal.dot(to - at(0));
    if (a < 0 && b < 0) return false;
    if (a < 0) begin = std::max(begin, a / (a - b));
    if (b < 0) end = std::min(end, a / (a - b));
  }
  return begin <= end;
}

Result<std::vector<BoneSegment>> find_bones(const RawCharacter& character, const CharacterRig& rig,
                                            const BoneSettings& settings) {
  const Skeleton& skeleton = rig.skeleton();
  const Result<std::vector<char>> soft = joints_named(skeleton, settings.soft_joints);
  SUPPLE_RETURN_IF_ERROR(soft);
  const std::vector<Affine> world = world_matrices(skeleton, rig.neutral().locals);
  const std::vector<Vec3> skin = evaluate_all(*rig.rig(), rig.rig()->layout().neutral);
  const JointFlesh flesh = flesh_of(character, rig, skin);
  const auto place = [&](Index joint) -> Vec3 { return world[to_size(joint)].translation(); };
  const auto carries = [&](Index joint) { return flesh.weight[to_size(joint)] > 0; };
  std::vector<char> has_child(skeleton.joints.size(), 0);
  std::vector<BoneSegment> bones;
  const auto add = [&](Index joint, const Vec3& to) {
    if (!(*soft)[to_size(joint)]) bones.push_back({joint, place(joint), to});
  };
  for (Index j = 0; j < skeleton.size(); ++j) {
    if (!carries(j)) continue;
    Index above = skeleton.joints[to_size(j)].parent;
    while (above >= 0 && !carries(above)) above = skeleton.joints[to_size(above)].parent;
    if (above < 0) continue;
    has_child[to_size(above)] = 1;
    add(above, place(j));
  }
  for (Index j = 0; j < skeleton.size(); ++j) {
    if (carries(j) && !has_child[to_size(j)])
      add(j, end_of_chain(character, rig, skin, j, place(j), flesh.center[to_size(j)]));
  }
  return bones;
}

Result<std::vector<char>> hard_vertices(const RawCharacter& character, const CharacterRig& rig,
                                        const BoneSettings& settings) {
  const Result<std::vector<char>> rigid = joints_named(rig.skeleton(), settings.rigid_joints);
  SUPPLE_RETURN_IF_ERROR(rigid);
  std::vector<char> hard(to_size(rig.first_vertex().back()), 0);
  double total_area = 0;
  for (const CharacterMesh& mesh : character.meshes)
    for (const Triangle& t : mesh.surface.triangles) total_area += area_vector(t, mesh.surface.vertices).norm();
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    const CharacterMesh& mesh = character.meshes[m];
    const std::span<char> own(hard.data() + rig.first_vertex()[m], mesh.surface.vertices.size());
    if (mesh.skin < 0) {
      // Without a skin anywhere, being without one says nothing.
      if (settings.find_hard_parts && !character.skins.empty()) std::fill(own.begin(), own.end(), char{1});
      continue;
    }
    const Skin& skin = character.skins[to_size(mesh.skin)];
    if (settings.find_hard_parts) {
      mark_named_parts(mesh, own);
      mark_small_pieces(mesh, skin, total_area, own);
    }
    for (Index v = 0; v < mesh.weights.vertex_count(); ++v) {
      double held = 0;
      for (Index k = mesh.weights.first[to_size(v)]; k < mesh.weights.first[to_size(v) + 1]; ++k) {
        const Index joint = skin.joints[to_size(mesh.weights.joint[to_size(k)])];
        const bool named = settings.find_hard_parts && named_hard(character.skeleton.joints[to_size(joint)].name);
        if ((*rigid)[to_size(joint)] || named) held += mesh.weights.weight[to_size(k)];
      }
      if (held > 0.5) own[to_size(v)] = 1;
    }
  }
  return hard;
}

std::vector<Index> fixed_by_bones(const TetMesh& mesh, std::span<const BoneSegment> bones, double radius,
                                  const SurfaceCarry& carry, std::span<const char> hard) {
  std::vector<char> fixed(mesh.vertices.size(), 0);
  const std::vector<double> thickness = local_thickness(mesh);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const std::array<Vec3, 4> corners = element_nodes(mesh, e);
    const bool crossed = std::any_of(bones.begin(), bones.end(), [&](const BoneSegment& bone) {
      return crosses(corners, bone.from, bone.to) ||
             (radius > 0 && distance_to_segment((corners[0] + corners[1] + corners[2] + corners[3]) / 4, bone.from,
                                                bone.to) < radius);
    });
    if (!crossed) continue;
    hold_near(mesh.elements[e], corners, bones, radius > 0 ? 0 : thickness[to_size(mesh.elements[e][0])], fixed);
  }
  std::vector<Index> result;
  for (std::size_t v = 0; v < fixed.size(); ++v) {
    bool all_hard = true;
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      all_hard = all_hard && (carry.weight[v][k] == 0 || hard[to_size(carry.vertex[v][k])]);
    if (fixed[v] || all_hard) result.push_back(static_cast<Index>(v));
  }
  return result;
}

}  // namespace supple
