// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/handle_character.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/motion/dmat.h"
#include "supple/io/motion/handle_json.h"
#include "supple/io/motion/handle_motion.h"
#include "supple/io/motion/tgf.h"
#include "supple/io/text_scanner.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/topology.h"
#include "supple/offline/meshing/tetrahedralize.h"
#include "supple/pipeline/character/handle_weights.h"

#include <algorithm>

namespace supple {
namespace {

bool has_extension(const std::filesystem::path& path, std::string_view extension) {
  return equals_ignoring_case(path.extension().string(), extension);
}

// ---- files ----------------------------------------------------------------------------------------------------------

/// All that the recipe and its files say of the handles; paths are whole.
struct HandleFiles {
  HandleRig rig;
  std::optional<JsonRig> json;         ///< with weights for a surface of its own
  std::filesystem::path weights;       ///< empty: none
  std::filesystem::path weights_mesh;  ///< of the tetrahedra that the weights may be for; empty: none
  std::vector<std::filesystem::path> motions;
  double frame_time = 0;  ///< [s]
};

Status follow_example(const HandleExample& example, const std::filesystem::path& folder, HandleFiles& files) {
  Result<HandleRig> rig = load_tgf(folder / example.handles);
  SUPPLE_RETURN_IF_ERROR(rig);
  files.rig = std::move(*rig);
  if (!example.weights.empty() && files.weights.empty()) files.weights = folder / example.weights;
  if (!example.mesh.empty() && files.weights_mesh.empty()) files.weights_mesh = folder / example.mesh;
  if (!example.motion.empty() && files.motions.empty()) files.motions.push_back(folder / example.motion);
  if (example.frame_time > 0) files.frame_time = example.frame_time;
  return {};
}

Result<HandleFiles> find_files(const Recipe& recipe, const std::filesystem::path& folder) {
  const RecipeHandles& handles = recipe.handles;
  HandleFiles files;
  files.frame_time = 1 / handles.rate;
  if (!handles.weights.empty()) files.weights = folder / handles.weights;
  if (!recipe.body_mesh.empty()) files.weights_mesh = folder / recipe.body_mesh;
  for (const std::string& motion : handles.motions) files.motions.push_back(folder / motion);
  const std::filesystem::path path = folder / handles.file;
  if (!has_extension(path, ".json")) {
    Result<HandleRig> rig = load_tgf(path);
    SUPPLE_RETURN_IF_ERROR(rig);
    files.rig = std::move(*rig);
    return files;
  }
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  Result<std::variant<JsonRig, HandleExample>> parsed = parse_handle_json(*text, path.string());
  SUPPLE_RETURN_IF_ERROR(parsed);
  if (auto* example = std::get_if<HandleExample>(&*parsed)) {
    SUPPLE_RETURN_IF_ERROR(follow_example(*example, path.parent_path(), files));
  } else {
    files.json = std::get<JsonRig>(std::move(*parsed));
    files.rig = files.json->rig;
  }
  return files;
}

/// The input: its skin, and the tetrahedra behind it where it is made of them.
struct BareMesh {
  Surface skin;
  std::optional<TetMesh> tets;
  std::vector<Index> file_vertex;  ///< of each vertex of the skin: its number in the file
  std::size_t file_vertices = 0;
  std::vector<std::string> warnings;
};

Result<BareMesh> read_bare_mesh(const std::filesystem::path& path) {
  if (has_extension(path, ".glb") || has_extension(path, ".gltf"))
    return input_error(
        fmt::format("{}: glTF brings a rig of its own; \"handles\" are for bare meshes, such as .obj and "
                    ".mesh",
                    path.string()));
  Result<LoadedMesh> loaded = load_mesh(path);
  SUPPLE_RETURN_IF_ERROR(loaded);
  BareMesh bare;
  bare.warnings = std::move(loaded->warnings);
  if (std::holds_alternative<HexMesh>(loaded->mesh))
    return input_error(fmt::format("{}: it is made of bricks; give a surface or tetrahedra", path.string()));
  if (auto* tets = std::get_if<TetMesh>(&loaded->mesh)) {
    BoundarySurface boundary = boundary_surface(*tets);
    bare.file_vertices = tets->vertices.size();
    bare.skin = std::move(boundary.surface);
    bare.file_vertex = std::move(boundary.volume_vertex);
    bare.tets = std::move(*tets);
    return bare;
  }
  bare.skin = std::get<Surface>(std::move(loaded->mesh));
  bare.file_vertices = bare.skin.vertices.size();
  for (std::size_t v = 0; v < bare.file_vertices; ++v) bare.file_vertex.push_back(static_cast<Index>(v));
  return bare;
}

Result<TetMesh> read_tets(const std::filesystem::path& path) {
  Result<LoadedMesh> loaded = load_mesh(path);
  SUPPLE_RETURN_IF_ERROR(loaded);
  if (auto* tets = std::get_if<TetMesh>(&loaded->mesh)) return std::move(*tets);
  return input_error(fmt::format("{}: it holds no tetrahedra", path.string()));
}

// ---- weights --------------------------------------------------------------------------------------------------------

Result<MatX> given_weights(const HandleFiles& files, const BareMesh& bare) {
  const Result<MatX> weights = load_dmat(files.weights);
  SUPPLE_RETURN_IF_ERROR(weights);
  const std::string name = files.weights.string();
  if (weights->cols() != files.rig.size())
    return input_error(fmt::format("{}: it has {} columns, but there are {} handles; take the weights of these handles",
                                   name, weights->cols(), files.rig.size()));
  const auto rows = to_size(weights->rows());
  if (rows == bare.file_vertices) {
    MatX chosen(static_cast<Eigen::Index>(bare.file_vertex.size()), weights->cols());
    for (std::size_t v = 0; v < bare.file_vertex.size(); ++v)
      chosen.row(static_cast<Eigen::Index>(v)) = weights->row(bare.file_vertex[v]);
    return chosen;
  }
  if (!files.weights_mesh.empty()) {
    const Result<TetMesh> tets = read_tets(files.weights_mesh);
    SUPPLE_RETURN_IF_ERROR(tets);
    if (tets->vertices.size() == rows) return weights_from_tets(*tets, *weights, bare.skin.vertices);
  }
  return input_error(
      fmt::format("{}: it has {} rows, but the input has {} vertices; take the mesh that the weights were "
                  "made for as the input, or name its tetrahedra as \"mesh\" of [body]",
                  name, rows, bare.file_vertices));
}

/// On the tetrahedra of the body, of the input, or on some made for this alone.
Result<MatX> made_weights(const HandleFiles& files, const BareMesh& bare, const std::string& name) {
  constexpr int tets_enough = 12000;
  TetMesh made;
  if (!files.weights_mesh.empty()) {
    Result<TetMesh> tets = read_tets(files.weights_mesh);
    SUPPLE_RETURN_IF_ERROR(tets);
    made = std::move(*tets);
  } else if (bare.tets) {
    made = *bare.tets;
  } else {
    TetMeshingOptions options;
    options.tets = tets_enough;
    Result<TetMeshingResult> meshed = tetrahedralize(bare.skin, options);
    SUPPLE_RETURN_IF_ERROR(meshed);
    made = std::move(meshed->mesh);
  }
  const Result<MatX> weights = biharmonic_weights(made, files.rig, name);
  SUPPLE_RETURN_IF_ERROR(weights);
  return weights_from_tets(made, *weights, bare.skin.vertices);
}

Result<MatX> find_weights(const HandleFiles& files, const BareMesh& bare, const std::string& name) {
  if (!files.weights.empty()) return given_weights(files, bare);
  if (files.json) return weights_from_surface(files.json->surface, files.json->weights, bare.skin.vertices);
  return made_weights(files, bare, name);
}

// ---- motion ---------------------------------------------------------------------------------------------------------

Result<HandleMotion> read_motion(const std::filesystem::path& path, const HandleRig& rig) {
  if (!has_extension(path, ".json")) return load_handle_motion(path, rig);
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_handle_frames(*text, path.string(), rig);
}

Affine rigid_frame(const Affine& matrix) {
  Affine rigid;
  rigid.linear() = rotation_of(matrix).toRotationMatrix();
  rigid.translation() = matrix.translation();
  return rigid;
}

/// Keys of one joint, as decomposed local transforms.
class JointTrack {
 public:
  JointTrack(Index joint, const Transform& rest) : joint_(joint), rest_(rest) {}

  /// Returns false where the matrix shears.
  bool add(double time, const Affine& local) {
    Transform key = decompose(local);
    if (!keys_.empty() && keys_.back().rotation.dot(key.rotation) < 0) key.rotation.coeffs() *= -1;
    times_.push_back(time);
    keys_.push_back(key);
    constexpr double slack = 1e-3;
    return (key.matrix().linear() - local.linear()).norm() <= slack * local.linear().norm();
  }

  /// Channels of what leaves its rest.
  void finish(double length, Clip& clip) const {
    const auto moves = [&](auto&& distance, double least) {
      return std::any_of(keys_.begin(), keys_.end(), [&](const Transform& key) { return distance(key) > least; });
    };
    if (moves([&](const Transform& k) { return (k.translation - rest_.translation).norm(); }, 1e-6 * length))
      append(
          ChannelTarget::translation, 3, [](const Transform& k) { return k.translation; }, clip);
    if (moves([&](const Transform& k) { return k.rotation.angularDistance(rest_.rotation); }, 1e-6))
      append(
          ChannelTarget::rotation, 4, [](const Transform& k) { return Eigen::Vector4d(k.rotation.coeffs()); }, clip);
    if (moves([&](const Transform& k) { return (k.scale - rest_.scale).norm(); }, 1e-5))
      append(
          ChannelTarget::scale, 3, [](const Transform& k) { return k.scale; }, clip);
  }

 private:
  template <class Value>
  void append(ChannelTarget target, int width, const Value& value, Clip& clip) const {
    Channel& channel = clip.channels.emplace_back();
    channel.joint = joint_;
    channel.target = target;
    channel.width = width;
    channel.times = times_;
    for (const Transform& key : keys_) {
      const auto numbers = value(key);
      channel.values.insert(channel.values.end(), numbers.data(), numbers.data() + width);
    }
  }

  Index joint_;
  Transform rest_;
  std::vector<double> times_;
  std::vector<Transform> keys_;
};

/// Where the joints are in one frame, in the world.
std::vector<Affine> frame_worlds(const HandleRig& rig, const HandleSkeleton& made, const HandleMotion& motion,
                                 std::size_t frame, std::span<const Affine> rest) {
  std::vector<Affine> world(rest.begin(), rest.end());
  if (made.root >= 0 && !motion.root.empty()) world[to_size(made.root)] = motion.root[frame] * rest[to_size(made.root)];
  for (std::size_t h = 0; h < rig.handles.size(); ++h) {
    const auto j = to_size(made.joint[h]);
    world[j] = motion.frames[frame][h] * rest[j];
  }
  return world;
}

// ---- the character --------------------------------------------------------------------------------------------------

RawCharacter assemble(const Recipe& recipe, BareMesh bare, const HandleFiles& files, const HandleSkeleton& made,
                      const MatX& weights) {
  RawCharacter character;
  character.name = std::filesystem::path(recipe.input).stem().string();
  character.skeleton = made.skeleton;
  character.warnings = std::move(bare.warnings);
  const std::vector<Affine> world = world_matrices(made.skeleton, rest_pose(made.skeleton));
  Skin& skin = character.skins.emplace_back();
  skin.name = character.name;
  skin.joints = made.joint;
  for (const Index j : made.joint) skin.inverse_bind.push_back(world[to_size(j)].inverse());
  CharacterMesh& mesh = character.meshes.emplace_back();
  mesh.name = character.name;
  mesh.node = character.skeleton.size();
  mesh.skin = 0;
  std::size_t lost = 0;
  mesh.weights = skin_weights(weights, bare.skin.vertices, files.rig, lost);
  mesh.surface = std::move(bare.skin);
  Joint& node = character.skeleton.joints.emplace_back();
  node.name = character.name;
  while (find_joint(made.skeleton, node.name) >= 0) node.name += "_mesh";
  if (lost > 0)
    character.warnings.push_back(fmt::format("{} vertices have no weights; they go with the nearest handle", lost));
  return character;
}

Status add_motions(const HandleFiles& files, const HandleSkeleton& made, RawCharacter& character) {
  for (const std::filesystem::path& path : files.motions) {
    const Result<HandleMotion> motion = read_motion(path, files.rig);
    SUPPLE_RETURN_IF_ERROR(motion);
    character.clips.push_back(
        handle_clip(files.rig, made, *motion, files.frame_time, path.stem().string(), character.warnings));
  }
  return {};
}

Result<CharacterFile> make_handle_character(const Recipe& recipe, const std::filesystem::path& folder) {
  const Result<HandleFiles> files = find_files(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(files);
  const std::string name = (folder / recipe.handles.file).string();
  const Result<std::vector<Index>> order = parents_first(files->rig, name);
  SUPPLE_RETURN_IF_ERROR(order);
  Result<BareMesh> bare = read_bare_mesh(folder / recipe.input);
  SUPPLE_RETURN_IF_ERROR(bare);
  const Result<MatX> weights = find_weights(*files, *bare, name);
  SUPPLE_RETURN_IF_ERROR(weights);
  const HandleSkeleton made = handle_skeleton(files->rig, *order);
  RawCharacter character = assemble(recipe, std::move(*bare), *files, made, *weights);
  SUPPLE_RETURN_IF_ERROR(add_motions(*files, made, character));
  Result<GltfDocument> document = character_document(character);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<RawCharacter> read = read_character(*document);
  SUPPLE_RETURN_IF_ERROR(read);
  read->warnings.insert(read->warnings.begin(), character.warnings.begin(), character.warnings.end());
  return CharacterFile{std::move(*document), std::move(*read), {}};
}

}  // namespace

HandleSkeleton handle_skeleton(const HandleRig& rig, const std::vector<Index>& parents_first) {
  HandleSkeleton made;
  made.joint.assign(rig.handles.size(), -1);
  std::vector<Affine> world;
  const auto add = [&](const std::string& name, Index parent, const Affine& place) {
    Joint& joint = made.skeleton.joints.emplace_back();
    joint.name = name;
    joint.parent = parent;
    joint.rest = decompose(parent < 0 ? place : Affine(world[to_size(parent)].inverse() * place));
    joint.rest.scale = Vec3::Ones();
    world.push_back(place);
    return made.skeleton.size() - 1;
  };
  const auto first = [&](const Handle& handle) { return handle.parent < 0; };
  if (std::count_if(rig.handles.begin(), rig.handles.end(), first) > 1) {
    Affine place = Affine::Identity();
    place.translation() = rig.handles[to_size(parents_first.front())].head;
    made.root = add("root", -1, place);
  }
  for (const Index h : parents_first) {
    const Handle& handle = rig.handles[to_size(h)];
    const Index parent = handle.parent < 0 ? made.root : made.joint[to_size(handle.parent)];
    made.joint[to_size(h)] = add(handle.name, parent, rigid_frame(handle.rest));
  }
  return made;
}

Clip handle_clip(const HandleRig& rig, const HandleSkeleton& made, const HandleMotion& motion, double frame_time,
                 const std::string& name, std::vector<std::string>& warnings) {
  const Skeleton& skeleton = made.skeleton;
  const std::vector<Affine> rest = world_matrices(skeleton, rest_pose(skeleton));
  std::vector<Vec3> places;
  for (const Handle& handle : rig.handles) places.insert(places.end(), {handle.head, handle.tail});
  std::vector<JointTrack> tracks;
  for (Index j = 0; j < skeleton.size(); ++j) tracks.emplace_back(j, skeleton.joints[to_size(j)].rest);
  std::size_t sheared = 0;
  for (std::size_t f = 0; f < motion.frames.size(); ++f) {
    const std::vector<Affine> world = frame_worlds(rig, made, motion, f, rest);
    for (Index j = 0; j < skeleton.size(); ++j) {
      const Index parent = skeleton.joints[to_size(j)].parent;
      const Affine local =
          parent < 0 ? world[to_size(j)] : Affine(world[to_size(parent)].inverse() * world[to_size(j)]);
      if (!tracks[to_size(j)].add(static_cast<double>(f) * frame_time, local)) ++sheared;
    }
  }
  Clip clip;
  clip.name = name;
  const double length = std::max(bounds_of(places).diagonal(), 1e-9);
  for (const JointTrack& track : tracks) track.finish(length, clip);
  clip.duration = static_cast<double>(motion.frames.size() - 1) * frame_time;
  if (sheared > 0)
    warnings.push_back(
        fmt::format("the motion \"{}\" shears handles in {} places, which joints can't; they turn and "
                    "stretch there as near as can be",
                    name, sheared));
  return clip;
}

Result<CharacterFile> read_input(const Recipe& recipe, const std::filesystem::path& folder) {
  if (recipe.handles.file.empty()) return read_character_file(folder / recipe.input);
  return make_handle_character(recipe, folder);
}

}  // namespace supple
