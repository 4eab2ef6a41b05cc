// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/drive_archive.h"

#include "supple/asset/rig_archive.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr Index unlimited = std::numeric_limits<Index>::max();
constexpr Eigen::Index joint_numbers = 10;
const std::string drive_marker = "drive.rig.parents";

// ---- words ----------------------------------------------------------------------------------------------------------

/// Words that each end in a zero byte, so that any other byte may be in them.
void add_words(ArchiveWriter& writer, const std::string& name, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word.substr(0, word.find('\0')) + '\0';
  writer.add(name, std::string_view(text));
}

std::vector<std::string> read_words(ArchiveReader& reader, const std::string& name, std::size_t count) {
  const std::string text = reader.text(name);
  std::vector<std::string> words;
  for (std::size_t at = 0, end; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
    words.push_back(text.substr(at, end - at));
  if (words.size() != count) reader.misfit(name);
  words.resize(count);
  return words;
}

// ---- skeleton -------------------------------------------------------------------------------------------------------

void add_skeleton(ArchiveWriter& writer, const std::string& prefix, const Skeleton& skeleton) {
  std::vector<std::string> names;
  std::vector<Index> parents, sheared;
  MatX rest(joint_numbers, skeleton.size()), matrices(12, 0);
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[to_size(j)];
    names.push_back(joint.name);
    parents.push_back(joint.parent);
    rest.col(j) << joint.rest.translation, joint.rest.rotation.coeffs(), joint.rest.scale;
    if (!joint.matrix) continue;
    sheared.push_back(j);
    matrices.conservativeResize(12, std::ssize(sheared));
    matrices.col(matrices.cols() - 1) = joint.matrix->matrix().reshaped();
  }
  add_words(writer, prefix + ".joints", names);
  writer.add(prefix + ".parents", parents);
  writer.add(prefix + ".rest", rest);
  writer.add(prefix + ".sheared", sheared);
  writer.add(prefix + ".matrices", matrices);
}

Skeleton read_skeleton(ArchiveReader& reader, const std::string& prefix) {
  Skeleton skeleton;
  const std::vector<Index> parents =
      reader.indices(prefix + ".parents", ArchiveReader::any, DriveArchive::most_joints, 1, -1);
  const auto count = std::ssize(parents);
  if (count == 0 || count > DriveArchive::most_joints) reader.misfit(prefix + ".parents");
  const std::vector<std::string> names = read_words(reader, prefix + ".joints", parents.size());
  const MatX rest = reader.matrix(prefix + ".rest", joint_numbers, count);
  const std::vector<Index> sheared = reader.indices(prefix + ".sheared", ArchiveReader::any, static_cast<Index>(count));
  const MatX matrices = reader.matrix(prefix + ".matrices", 12, std::ssize(sheared));
  if (!reader.ok()) return skeleton;
  for (std::size_t j = 0; j < parents.size(); ++j) {
    if (parents[j] >= static_cast<Index>(j)) reader.misfit(prefix + ".parents");
    const VecX numbers = rest.col(static_cast<Eigen::Index>(j));
    Joint& joint = skeleton.joints.emplace_back();
    joint.name = names[j];
    joint.parent = parents[j];
    joint.rest.translation = numbers.head<3>();
    joint.rest.rotation.coeffs() = numbers.segment<4>(3);
    joint.rest.scale = numbers.tail<3>();
  }
  for (std::size_t k = 0; k < sheared.size(); ++k) {
    Affine& matrix = skeleton.joints[to_size(sheared[k])].matrix.emplace();
    matrix.matrix() = matrices.col(static_cast<Eigen::Index>(k)).reshaped(3, 4);
  }
  return skeleton;
}

// ---- surface --------------------------------------------------------------------------------------------------------

/// Entries from one place to the next: ascending from zero to `end`.
bool cuts(std::span<const Index> first, std::size_t end) {
  return !first.empty() && first.front() == 0 && to_size(first.back()) == end &&
         std::is_sorted(first.begin(), first.end());
}

void add_meshes(ArchiveWriter& writer, const CharacterDrive& drive) {
  std::vector<std::string> names;
  std::vector<Index> numbers, first = {0}, vertices;
  for (const SurfaceMesh& mesh : drive.meshes) {
    names.push_back(mesh.name);
    const Index primitives = static_cast<Index>(mesh.file_vertices.size());
    numbers.insert(numbers.end(), {mesh.node, mesh.file_mesh, mesh.vertex_count, primitives});
    for (const std::vector<Index>& primitive : mesh.file_vertices) {
      vertices.insert(vertices.end(), primitive.begin(), primitive.end());
      first.push_back(static_cast<Index>(vertices.size()));
    }
  }
  std::vector<Index> triangles;
  for (const Triangle& t : drive.triangles) triangles.insert(triangles.end(), t.begin(), t.end());
  add_words(writer, "drive.mesh_names", names);
  writer.add("drive.meshes", numbers);
  writer.add("drive.primitives", first);
  writer.add("drive.file_vertices", vertices);
  writer.add("drive.triangles", triangles);
  writer.add_number("drive.metres_per_unit", drive.metres_per_unit);
}

void read_primitives(ArchiveReader& reader, const std::vector<Index>& numbers, CharacterDrive& drive) {
  const Index count = drive.rig.rig()->vertex_count();
  const std::vector<Index> vertices = reader.indices("drive.file_vertices", ArchiveReader::any, count);
  const std::vector<Index> first = reader.indices("drive.primitives", ArchiveReader::any, unlimited);
  if (!reader.ok()) return;
  if (!cuts(first, vertices.size())) return reader.misfit("drive.primitives");
  std::size_t at = 0;
  for (std::size_t m = 0; m < drive.meshes.size(); ++m) {
    for (Index k = 0; k < numbers[4 * m + 3]; ++k, ++at) {
      if (at + 1 >= first.size()) return reader.misfit("drive.primitives");
      drive.meshes[m].file_vertices.emplace_back(vertices.begin() + first[at], vertices.begin() + first[at + 1]);
    }
  }
  if (at + 1 != first.size()) reader.misfit("drive.primitives");
}

void read_meshes(ArchiveReader& reader, CharacterDrive& drive) {
  const Index count = drive.rig.rig()->vertex_count();
  const std::vector<Index> numbers = reader.indices("drive.meshes", ArchiveReader::any, unlimited, 4);
  const std::vector<std::string> names = read_words(reader, "drive.mesh_names", numbers.size() / 4);
  if (!reader.ok()) return;
  std::int64_t vertices = 0;
  for (std::size_t m = 0; m < names.size() && vertices <= count; ++m) {
    const Index* mesh = numbers.data() + 4 * m;
    if (mesh[0] >= drive.rig.skeleton().size()) return reader.misfit("drive.meshes");
    drive.meshes.push_back({names[m], mesh[0], mesh[1], static_cast<Index>(vertices), mesh[2], {}});
    vertices += mesh[2];
  }
  if (vertices != count) return reader.misfit("drive.meshes");
  read_primitives(reader, numbers, drive);
  const std::vector<Index> corners = reader.indices("drive.triangles", ArchiveReader::any, count, 3);
  for (std::size_t k = 0; k + 2 < corners.size(); k += 3)
    drive.triangles.push_back({corners[k], corners[k + 1], corners[k + 2]});
  drive.metres_per_unit = reader.number("drive.metres_per_unit");
  if (!(drive.metres_per_unit > 0)) reader.misfit("drive.metres_per_unit");
}

void add_skin(ArchiveWriter& writer, const SurfaceSkin& skin) {
  std::vector<Index> joints;
  MatX binds(12, std::ssize(skin.bones));
  for (const Bone& bone : skin.bones) {
    binds.col(std::ssize(joints)) = bone.inverse_bind.matrix().reshaped();
    joints.push_back(bone.joint);
  }
  Eigen::MatrixXf weights(std::ssize(skin.weights.weight), 1);
  for (Eigen::Index e = 0; e < weights.rows(); ++e) weights(e) = static_cast<float>(skin.weights.weight[to_size(e)]);
  writer.add("drive.skin.joints", joints);
  writer.add("drive.skin.inverse_binds", binds);
  writer.add("drive.skin.first", skin.weights.first);
  writer.add("drive.skin.bones", skin.weights.joint);
  writer.add_singles("drive.skin.weights", weights);
}

void read_skin(ArchiveReader& reader, CharacterDrive& drive) {
  const std::vector<Index> joints =
      reader.indices("drive.skin.joints", ArchiveReader::any, drive.rig.skeleton().size());
  const MatX binds = reader.matrix("drive.skin.inverse_binds", 12, std::ssize(joints));
  SkinWeights& weights = drive.skin.weights;
  weights.first = reader.indices("drive.skin.first", Eigen::Index{drive.rig.rig()->vertex_count()} + 1, unlimited);
  weights.joint = reader.indices("drive.skin.bones", ArchiveReader::any, static_cast<Index>(joints.size()));
  const MatX numbers = reader.singles("drive.skin.weights", std::ssize(weights.joint), 1);
  if (!reader.ok()) return;
  if (!cuts(weights.first, weights.joint.size())) return reader.misfit("drive.skin.first");
  for (std::size_t b = 0; b < joints.size(); ++b) {
    Bone& bone = drive.skin.bones.emplace_back();
    bone.joint = joints[b];
    bone.inverse_bind.matrix() = binds.col(static_cast<Eigen::Index>(b)).reshaped(3, 4);
  }
  weights.weight.assign(numbers.data(), numbers.data() + numbers.size());
}

// ---- corrections ----------------------------------------------------------------------------------------------------

MatX poses_of(const PoseSpaceWeights& weights) {
  MatX poses(weights.layout().size(), weights.pose_count());
  for (Index i = 0; i < weights.pose_count(); ++i)
    poses.col(i) = Eigen::Map<const VecX>(weights.pose(i).data(), poses.rows());
  return poses;
}

std::vector<std::vector<double>> examples_of(const MatX& poses) {
  std::vector<std::vector<double>> examples;
  for (Eigen::Index i = 0; i < poses.cols(); ++i) examples.emplace_back(poses.col(i).begin(), poses.col(i).end());
  return examples;
}

/// Numbers of the followers of one space: place and pose of each.
std::vector<Index> followers_of(const PoseMorphs& morphs, Index space) {
  std::vector<Index> numbers;
  for (const PoseMorphs::Follower& f : morphs.followers())
    if (f.space == space) numbers.insert(numbers.end(), {f.place, f.pose});
  return numbers;
}

std::string space_name(std::size_t k) { return "drive.correction" + std::to_string(k); }

/// Corrections that follow single joints come in arrays of their own, which other files don't have.
void add_pose_morphs(ArchiveWriter& writer, const std::optional<PoseMorphs>& morphs) {
  writer.add("drive.followers", morphs ? followers_of(*morphs, 0) : std::vector<Index>());
  if (!morphs) return;
  writer.add("drive.corrected_poses", poses_of(morphs->weights()));
  const std::vector<PoseMorphs::LocalSpace>& spaces = morphs->local_spaces();
  if (!spaces.empty()) writer.add("drive.corrections", std::vector<Index>{static_cast<Index>(spaces.size())});
  for (std::size_t k = 0; k < spaces.size(); ++k) {
    writer.add(space_name(k) + ".joints", spaces[k].joints);
    writer.add(space_name(k) + ".followers", followers_of(*morphs, static_cast<Index>(k) + 1));
    writer.add(space_name(k) + ".poses", poses_of(spaces[k].weights));
    if (spaces[k].alone)
      writer.add(space_name(k) + ".reaches",
                 Eigen::Map<const VecX>(spaces[k].reach.data(), std::ssize(spaces[k].reach)));
  }
}

void read_followers(ArchiveReader& reader, const std::string& name, Index size, const MatX& poses, Index space,
                    std::vector<PoseMorphs::Follower>& followers) {
  const std::vector<Index> numbers = reader.indices(name, ArchiveReader::any, unlimited, 2);
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
    if (numbers[k] >= size || numbers[k + 1] >= poses.cols()) return reader.misfit(name);
    followers.push_back({numbers[k], numbers[k + 1], space});
  }
}

/// How far each pose of a space reaches, where the file says so.
void read_reaches(ArchiveReader& reader, const std::string& name, PoseMorphs::LocalExamples& space) {
  if (!reader.archive().matrix(name).ok()) return;
  const MatX reaches = reader.matrix(name, std::ssize(space.poses), 1);
  if (!reader.ok()) return;
  if (!(reaches.minCoeff() >= 0)) return reader.misfit(name);
  space.reaches.assign(reaches.data(), reaches.data() + reaches.size());
}

/// Reads the corrections that follow single joints, where the file has any.
std::vector<PoseMorphs::LocalExamples> read_local(ArchiveReader& reader, const CharacterRig& rig,
                                                  std::vector<PoseMorphs::Follower>& followers) {
  std::vector<PoseMorphs::LocalExamples> local;
  if (!reader.archive().indices("drive.corrections").ok()) return local;
  const Index count = reader.index("drive.corrections", RigArchive::most_poses), size = rig.rig()->layout().size();
  for (Index k = 0; k < count && reader.ok(); ++k) {
    const std::string name = space_name(to_size(k));
    PoseMorphs::LocalExamples& space = local.emplace_back();
    space.joints = reader.indices(name + ".joints", ArchiveReader::any, rig.skeleton().size());
    const MatX poses = reader.matrix(name + ".poses", size, ArchiveReader::any);
    if (poses.cols() < 1 || poses.cols() > RigArchive::most_poses) reader.misfit(name + ".poses");
    read_followers(reader, name + ".followers", size, poses, k + 1, followers);
    space.poses = examples_of(poses);
    read_reaches(reader, name + ".reaches", space);
  }
  return local;
}

void read_pose_morphs(ArchiveReader& reader, CharacterDrive& drive) {
  const std::vector<Index> numbers = reader.indices("drive.followers", ArchiveReader::any, unlimited, 2);
  const bool local_ones = reader.archive().indices("drive.corrections").ok();
  if (!reader.ok() || (numbers.empty() && !local_ones)) return;
  const Index size = drive.engine_rig().rig()->layout().size();
  const MatX poses = reader.matrix("drive.corrected_poses", size, ArchiveReader::any);
  if (poses.cols() > RigArchive::most_poses) reader.misfit("drive.corrected_poses");
  std::vector<PoseMorphs::Follower> followers;
  read_followers(reader, "drive.followers", size, poses, 0, followers);
  std::vector<PoseMorphs::LocalExamples> local = read_local(reader, drive.engine_rig(), followers);
  if (!reader.ok()) return;
  Result<PoseMorphs> morphs =
      PoseMorphs::create(drive.engine_rig(), examples_of(poses), std::move(followers), std::move(local));
  if (!morphs.ok()) return reader.note(morphs.error());
  drive.pose_morphs = std::move(*morphs);
}

}  // namespace

// ---- rigs -----------------------------------------------------------------------------------------------------------

void DriveArchive::write_slots(ArchiveWriter& writer, const std::string& prefix, const CharacterRig& rig) {
  std::vector<Index> joints, morphs;
  std::vector<double> neutral;
  for (const CharacterRig::JointSlot& slot : rig.joints_)
    joints.insert(joints.end(), {slot.joint, static_cast<Index>(slot.target), slot.first});
  for (const CharacterRig::MorphSlot& slot : rig.morphs_) {
    morphs.insert(morphs.end(), {slot.node, slot.first, static_cast<Index>(slot.neutral.size())});
    neutral.insert(neutral.end(), slot.neutral.begin(), slot.neutral.end());
  }
  writer.add(prefix + ".slots", joints);
  writer.add(prefix + ".morphs", morphs);
  writer.add(prefix + ".morph_neutral", Eigen::Map<const VecX>(neutral.data(), std::ssize(neutral)));
}

void DriveArchive::read_slots(ArchiveReader& reader, const std::string& prefix, CharacterRig& rig) {
  const Index joint_count = rig.skeleton_.size(), size = rig.rig_->layout().size();
  const std::vector<Index> joints = reader.indices(prefix + ".slots", ArchiveReader::any, unlimited, 3);
  for (std::size_t k = 0; k + 2 < joints.size(); k += 3) {
    const auto target = static_cast<ChannelTarget>(joints[k + 1]);
    const Index width = target == ChannelTarget::rotation ? 4 : 3;
    if (joints[k] >= joint_count || joints[k + 1] >= static_cast<Index>(ChannelTarget::weights) ||
        joints[k + 2] > size - width)
      return reader.misfit(prefix + ".slots");
    rig.joints_.push_back({joints[k], target, joints[k + 2]});
  }
  const std::vector<Index> morphs = reader.indices(prefix + ".morphs", ArchiveReader::any, unlimited, 3);
  const MatX neutral = reader.matrix(prefix + ".morph_neutral", ArchiveReader::any, 1);
  Eigen::Index at = 0;
  for (std::size_t k = 0; k + 2 < morphs.size(); k += 3) {
    const Index first = morphs[k + 1], count = morphs[k + 2];
    if (morphs[k] >= joint_count || count > size || first > size - count || at + count > neutral.rows())
      return reader.misfit(prefix + ".morphs");
    rig.morphs_.push_back({morphs[k], first, {neutral.data() + at, neutral.data() + at + count}});
    at += count;
  }
  if (at != neutral.rows()) reader.misfit(prefix + ".morph_neutral");
}

void DriveArchive::write_wires(ArchiveWriter& writer, const std::string& prefix, const CharacterRig& rig) {
  std::vector<std::string> names;
  std::vector<Index> first = {0}, joints;
  if (rig.wires_) {
    for (const auto& curve : rig.wires_->curves_) {
      names.push_back(curve.wire.name);
      joints.insert(joints.end(), curve.wire.joints.begin(), curve.wire.joints.end());
      first.push_back(static_cast<Index>(joints.size()));
    }
  }
  add_words(writer, prefix + ".wire_names", names);
  writer.add(prefix + ".wires", first);
  writer.add(prefix + ".wire_joints", joints);
}

void DriveArchive::read_wires(ArchiveReader& reader, const std::string& prefix, CharacterRig& rig) {
  const std::vector<Index> joints = reader.indices(prefix + ".wire_joints", ArchiveReader::any, rig.skeleton_.size());
  const std::vector<Index> first = reader.indices(prefix + ".wires", ArchiveReader::any, unlimited);
  if (!reader.ok()) return;
  // A handle has an offset and a twist in p: four numbers.
  const bool fits =
      cuts(first, joints.size()) && (joints.empty() || 4 * joints.size() == to_size(rig.rig_->layout().size()));
  if (!fits) return reader.misfit(prefix + ".wires");
  const std::vector<std::string> names = read_words(reader, prefix + ".wire_names", first.size() - 1);
  if (!reader.ok() || names.empty()) return;
  std::vector<WireCurve> curves;
  for (std::size_t c = 0; c < names.size(); ++c)
    curves.push_back({names[c], {joints.begin() + first[c], joints.begin() + first[c + 1]}});
  const std::vector<Affine> world = world_matrices(rig.skeleton_, rest_pose(rig.skeleton_));
  Result<WireHandles> wires = WireHandles::create(rig.skeleton_, world, std::move(curves));
  if (!wires.ok()) return reader.note(wires.error());
  rig.wires_ = std::move(*wires);
}

Status DriveArchive::write_rig(ArchiveWriter& writer, const std::string& prefix, const CharacterRig& rig) {
  add_skeleton(writer, prefix, rig.skeleton_);
  writer.add_number(prefix + ".root", rig.root());
  writer.add(prefix + ".first_vertex", rig.first_vertex_);
  write_slots(writer, prefix, rig);
  write_wires(writer, prefix, rig);
  return RigArchive::write(writer, prefix + ".rig", *rig.rig_);
}

std::optional<CharacterRig> DriveArchive::read_rig(ArchiveReader& reader, const std::string& prefix) {
  Skeleton skeleton = read_skeleton(reader, prefix);
  const std::vector<Index> root = reader.indices(prefix + ".root", 1, skeleton.size(), 1, -1);
  if (!reader.ok()) return {};
  CharacterRig rig(std::move(skeleton), root.front());
  rig.rig_ = RigArchive::read(reader, prefix + ".rig");
  rig.first_vertex_ = reader.indices(prefix + ".first_vertex", ArchiveReader::any, unlimited);
  if (!reader.ok()) return {};
  if (!cuts(rig.first_vertex_, to_size(rig.rig_->vertex_count()))) reader.misfit(prefix + ".first_vertex");
  read_slots(reader, prefix, rig);
  read_wires(reader, prefix, rig);
  if (!reader.ok()) return {};
  return rig;
}

// ---- the whole ------------------------------------------------------------------------------------------------------

bool DriveArchive::present(const Archive& archive) { return archive.indices(drive_marker).ok(); }

Status DriveArchive::write(ArchiveWriter& writer, const CharacterDrive& drive) {
  SUPPLE_RETURN_IF_ERROR(write_rig(writer, "drive.rig", drive.rig));
  writer.add_number("drive.has_played", static_cast<Index>(drive.played ? 1 : 0));
  if (drive.played) SUPPLE_RETURN_IF_ERROR(write_rig(writer, "drive.played", *drive.played));
  add_pose_morphs(writer, drive.pose_morphs);
  add_meshes(writer, drive);
  add_skin(writer, drive.skin);
  return {};
}

std::shared_ptr<const CharacterDrive> DriveArchive::read(ArchiveReader& reader) {
  std::optional<CharacterRig> rig = read_rig(reader, "drive.rig");
  const bool has_played = reader.index("drive.has_played", 2) == 1;
  if (!rig || !reader.ok()) return {};
  auto drive = std::make_shared<CharacterDrive>(CharacterDrive{std::move(*rig)});
  if (has_played) drive->played = read_rig(reader, "drive.played");
  if (!reader.ok()) return {};
  if (has_played && (drive->played->rig()->vertex_count() != drive->rig.rig()->vertex_count() ||
                     drive->played->skeleton().size() != drive->rig.skeleton().size()))
    reader.misfit("drive.played");
  read_pose_morphs(reader, *drive);
  read_meshes(reader, *drive);
  read_skin(reader, *drive);
  return reader.ok() ? drive : nullptr;
}

}  // namespace supple
