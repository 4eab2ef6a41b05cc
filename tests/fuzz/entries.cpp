// SPDX-License-Identifier: Apache-2.0
#include "fuzz/entries.h"

#include "supple/asset/character_archive.h"
#include "supple/asset/domain_archive.h"
#include "supple/asset/full_archive.h"
#include "supple/asset/quasistatic_archive.h"
#include "supple/asset/subspace_archive.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/rest_surface.h"
#include "supple/io/mesh/gmsh.h"
#include "supple/io/mesh/medit.h"
#include "supple/io/mesh/obj.h"
#include "supple/io/mesh/off.h"
#include "supple/io/mesh/ply.h"
#include "supple/io/mesh/stl.h"
#include "supple/io/mesh/tetgen.h"
#include "supple/io/mesh/veg.h"
#include "supple/io/mesh/vertex_list.h"
#include "supple/io/motion/bvh.h"
#include "supple/io/motion/dmat.h"
#include "supple/io/motion/handle_json.h"
#include "supple/io/motion/handle_motion.h"
#include "supple/io/motion/mdd.h"
#include "supple/io/motion/tgf.h"
#include "supple/offline/sketch/sketch_recording.h"
#include "supple/pipeline/character/recipe.h"
#include "supple/pipeline/object/scene_file.h"
#include "supple/pipeline/plant/plant_recipe.h"
#include "supple/runtime/domains/domain_dynamics.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace supple::fuzz {
namespace {

void require(bool condition, const char* promise) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

template <class Corners>
bool in_range(const Corners& corners, std::size_t count) {
  for (const Index i : corners) {
    if (i < 0 || to_size(i) >= count) return false;
  }
  return true;
}

void check_vertices(const std::vector<Vec3>& vertices) {
  for (const Vec3& x : vertices) require(x.allFinite(), "coordinates are finite");
}

void check(const Surface& s) {
  check_vertices(s.vertices);
  require(!s.triangles.empty(), "there are triangles");
  for (const Triangle& t : s.triangles) require(in_range(t, s.vertices.size()), "corners exist");
  for (const VertexAttribute& a : s.attributes)
    require(a.values.size() == s.vertices.size() * to_size(a.components), "attributes cover the vertices");
  Index next = 0;
  for (const SurfacePart& part : s.parts) {
    require(part.first_triangle == next && part.triangle_count > 0, "parts follow each other");
    next += part.triangle_count;
  }
  require(s.parts.empty() || next == static_cast<Index>(s.triangles.size()), "parts cover the triangles");
}

template <int Nodes>
void check(const VolumeMesh<Nodes>& m) {
  check_vertices(m.vertices);
  require(!m.elements.empty(), "there are elements");
  for (const auto& e : m.elements) require(in_range(e, m.vertices.size()), "nodes exist");
  for (const ElementSet& set : m.sets) {
    require(in_range(set.elements, m.elements.size()), "members of sets exist");
    for (std::size_t k = 1; k < set.elements.size(); ++k)
      require(set.elements[k - 1] < set.elements[k], "sets ascend without repetition");
  }
  for (const Region& r : m.regions) {
    require(in_range(std::array{r.set}, m.sets.size()), "sets of regions exist");
    require(in_range(std::array{r.material}, m.materials.size()), "materials of regions exist");
  }
  require(m.element_material.empty() || m.element_material.size() == m.elements.size(), "materials cover the elements");
  require(in_range(m.element_material, m.materials.size()), "materials of elements exist");
}

void compare(const Surface& a, const Surface& b) {
  require(a.triangles.size() == b.triangles.size(), "triangles survive");
}

template <int Nodes>
void compare(const VolumeMesh<Nodes>& a, const VolumeMesh<Nodes>& b) {
  require(a.vertices == b.vertices, "vertices survive exactly");
  // Turning around an element whose volume is rounding only may depend on the order of its nodes, so no more than this.
  require(a.elements.size() == b.elements.size(), "elements survive");
}

template <class A, class B>
void compare(const A&, const B&) {
  require(false, "the kind of mesh survives");
}

// ---- characters -----------------------------------------------------------------------------------------------------

void check(const SkinWeights& w, std::size_t vertices, std::size_t joints) {
  require(to_size(w.vertex_count()) == vertices, "weights cover the vertices");
  for (std::size_t v = 0; v < vertices; ++v) {
    double sum = 0;
    for (auto k = to_size(w.first[v]); k < to_size(w.first[v + 1]); ++k) {
      require(in_range(std::array{w.joint[k]}, joints) && w.weight[k] > 0, "influences exist and are positive");
      sum += w.weight[k];
    }
    require(std::abs(sum - 1) < 1e-9, "weights sum to one");
  }
}

void check(const CharacterMesh& mesh, const RawCharacter& character) {
  check(mesh.surface);
  const std::size_t vertices = mesh.surface.vertices.size();
  require(in_range(std::array{mesh.node}, character.skeleton.joints.size()), "the node of a mesh exists");
  if (mesh.skin >= 0) check(mesh.weights, vertices, character.skins.at(to_size(mesh.skin)).joints.size());
  for (const MorphTarget& target : mesh.targets)
    require(target.displacements.size() == vertices, "morph targets cover the vertices");
  require(mesh.default_target_weights.size() == mesh.targets.size(), "morph targets have weights");
  for (const auto& welded : mesh.welded_vertex) require(in_range(welded, vertices), "welded vertices exist");
}

void check(const RawCharacter& character) {
  const auto& joints = character.skeleton.joints;
  for (std::size_t j = 0; j < joints.size(); ++j)
    require(joints[j].parent < static_cast<Index>(j), "parents come before children");
  for (const Skin& skin : character.skins) require(in_range(skin.joints, joints.size()), "joints of skins exist");
  for (const CharacterMesh& mesh : character.meshes) check(mesh, character);
  for (const Clip& clip : character.clips) {
    for (const Channel& channel : clip.channels) {
      require(in_range(std::array{channel.joint}, joints.size()), "animated joints exist");
      for (std::size_t k = 1; k < channel.times.size(); ++k)
        require(channel.times[k] > channel.times[k - 1], "times ascend");
    }
  }
}

// Checks what was loaded; then `again` writes it and reads that.
template <class Again>
void check_loaded(const Result<LoadedMesh>& loaded, Again&& again) {
  if (!loaded.ok()) {
    require(!loaded.error().message.empty() && loaded.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  std::visit(
      [&](const auto& mesh) {
        check(mesh);
        const Result<LoadedMesh> second = again(mesh);
        require(second.ok(), "what we write we can read");
        std::visit([&](const auto& other) { check(other), compare(mesh, other); }, second->mesh);
      },
      loaded->mesh);
}

// Formats for surfaces only.
template <class Encode, class Parse>
auto surface_again(Encode encode, Parse parse) {
  return [=](const auto& mesh) -> Result<LoadedMesh> {
    if constexpr (std::is_same_v<std::decay_t<decltype(mesh)>, Surface>) {
      return parse(encode(mesh), "again");
    } else {
      return failure("a surface format gave a solid.");
    }
  };
}

}  // namespace

void veg(std::string_view bytes) {
  // Every included file is the input itself, so that includes are exercised without touching the disk.
  const IncludeResolver resolve = [&](const std::string& path) -> Result<std::string> {
    if (path.find("missing") != std::string::npos) return input_error("There is no such file.");
    return path.find("list") != std::string::npos ? std::string("1, 2\n") : std::string(bytes);
  };
  check_loaded(parse_veg(bytes, "input", resolve), [](const auto& mesh) -> Result<LoadedMesh> {
    if constexpr (std::is_same_v<std::decay_t<decltype(mesh)>, Surface>) {
      return failure("a Vega file gave a surface.");
    } else {
      return parse_veg(encode_veg(mesh), "again");
    }
  });
}

void gmsh(std::string_view bytes) {
  const bool binary = bytes.size() % 2 == 0;
  // Version 2.2 merges repeated elements, so a mesh that has some doesn't survive it; 4.1 keeps everything.
  const auto again = [&](const auto& mesh) {
    (void)encode_gmsh(mesh, GmshVersion::v2_2, binary ? Encoding::binary : Encoding::ascii);
    return parse_gmsh(encode_gmsh(mesh, GmshVersion::v4_1, binary ? Encoding::binary : Encoding::ascii), "again");
  };
  check_loaded(parse_gmsh(bytes, "input"), again);
}

void medit(std::string_view bytes) {
  check_loaded(parse_medit(bytes, "input"), [](const auto& mesh) { return parse_medit(encode_medit(mesh), "again"); });
}

void tetgen(std::string_view bytes) {
  const std::size_t cut = bytes.find("====\n");
  const std::string_view node = bytes.substr(0, cut);
  const std::string_view ele = cut == std::string_view::npos ? std::string_view() : bytes.substr(cut + 5);
  check_loaded(parse_tetgen(node, "input.node", ele, "input.ele"), [](const auto& mesh) -> Result<LoadedMesh> {
    if constexpr (std::is_same_v<std::decay_t<decltype(mesh)>, TetMesh>) {
      const TetgenFiles files = encode_tetgen(mesh);
      return parse_tetgen(files.node, "again.node", files.ele, "again.ele");
    } else {
      return failure("TetGen gave no tetrahedra.");
    }
  });
}

void obj(std::string_view bytes) { check_loaded(parse_obj(bytes, "input"), surface_again(encode_obj, parse_obj)); }
void off(std::string_view bytes) { check_loaded(parse_off(bytes, "input"), surface_again(encode_off, parse_off)); }

void stl(std::string_view bytes) {
  const Result<LoadedMesh> loaded = parse_stl(bytes, "input");
  check_loaded(loaded, surface_again(encode_stl_ascii, parse_stl));
  if (loaded.ok()) (void)encode_stl_binary(std::get<Surface>(loaded->mesh));
}

void ply(std::string_view bytes) {
  const bool binary = bytes.size() % 2 == 0;
  check_loaded(parse_ply(bytes, "input"), surface_again(binary ? encode_ply_binary : encode_ply_ascii, parse_ply));
}

void gltf(std::string_view bytes) {
  const auto nothing = [](const std::string&) -> Result<std::string> { return input_error("There is no such file."); };
  const Result<GltfDocument> document = parse_gltf(bytes, "input", nothing);
  if (!document.ok()) {
    require(document.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  const Result<GltfDocument> again = parse_gltf(encode_glb(*document), "again", nothing);
  require(again.ok(), "what we write we can read");
  const Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  const Result<RawCharacter> second = read_character(*again, {.require_skin = false});
  require(character.ok() == second.ok(), "characters survive");
  if (!character.ok()) return;
  check(*character);
  require(character->meshes.size() == second->meshes.size(), "meshes survive");
  const Result<Surface> surface = rest_surface(*character);
  if (surface.ok()) check(*surface);
}

void vertex_list(std::string_view bytes) {
  const Result<std::vector<Index>> list = parse_vertex_list(bytes, "input", 1000);
  if (!list.ok()) return;
  std::string text;
  for (const Index v : *list) text += std::to_string(v + 1) + "\n";
  const Result<std::vector<Index>> again = parse_vertex_list(text, "again", 1000);
  require(again.ok() && *again == *list, "vertex lists survive");
}

void sketch(std::string_view bytes) {
  const Result<SketchRecording> recording = parse_sketch(bytes, "input");
  if (!recording.ok()) {
    require(!recording.error().message.empty(), "refusals say something");
    return;
  }
  for (const NodalLoad& load : recording->loads)
    for (const NodalForce& force : load)
      require(force.vertex >= 0 && force.vertex < recording->vertex_count && force.force.allFinite(), "forces exist");
  const Result<SketchRecording> again = parse_sketch(encode_sketch(*recording), "again");
  require(again.ok() && again->loads == recording->loads, "what we write we can read");
}

namespace {

/// Once as it is, once with a checksum that fits.
template <class Check>
void with_archives(std::string_view bytes, Check&& check) {
  std::string stamped(bytes);
  stamp_checksum(stamped);
  for (const std::string_view candidate : {bytes, std::string_view(stamped)}) {
    std::vector<double> aligned(candidate.size() / sizeof(double) + 1);
    std::memcpy(aligned.data(), candidate.data(), candidate.size());
    const Result<Archive> archive = Archive::parse(std::as_bytes(std::span(aligned)).first(candidate.size()), "input");
    if (archive.ok()) check(*archive);
  }
}

}  // namespace

void subspace_archive(std::string_view bytes) {
  with_archives(bytes, [](const Archive& archive) {
    const Result<SubspaceModel> model = decode_subspace_model(archive);
    if (!model.ok()) return;
    require(model->basis.allFinite() && model->basis.rows() == 3 * model->vertex_count(), "the basis fits");
    require(in_range(model->elements, model->rest_positions.size()), "nodes exist");
    require(in_range(model->element_group, model->groups.size()), "groups exist");
    for (const Triangle& t : model->surface.triangles)
      require(in_range(t, model->surface.rest_positions.size()), "corners exist");
    require(model->surface.basis.rows() == 3 * model->surface.vertex_count(), "the surface's basis fits");
  });
}

void character_archive(std::string_view bytes) {
  with_archives(bytes, [](const Archive& archive) {
    const Result<CharacterAsset> asset = decode_character(archive);
    if (!asset.ok()) {
      require(!asset.error().message.empty(), "refusals say why");
      return;
    }
    require(encode_character(*asset).ok(), "what we read we can write");
    // Whatever the numbers are, a step reads nothing that isn't there.
    Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(asset->model, {});
    if (!dynamics.ok()) return;
    const std::vector<double> p = asset->model->rest->layout().neutral;
    std::vector<Vec3> shown(to_size(asset->model->surface.vertex_count()));
    for (int k = 0; k < 2; ++k) dynamics->step({}, p, {.gravity = Vec3(0, -9.81, 0)});
    dynamics->surface_displacements({}, p, dynamics->coordinates(), shown);
    for (const float q : dynamics->coordinates()) require(std::isfinite(q), "no NaN leaves a step");
  });
}

namespace {

void check(const WholeMeshModel& model) {
  check(model.mesh);
  require(in_range(model.fixed, model.mesh.vertices.size()), "fixed vertices exist");
  require(model.surface_vertex.size() == model.surface_weight.size(), "the skin has weights");
  for (const auto& nodes : model.surface_vertex) require(in_range(nodes, model.mesh.vertices.size()), "the skin hangs");
  require(model.rest && to_size(model.rest->vertex_count()) == model.mesh.vertices.size(), "the rig moves the mesh");
  (void)evaluate_all(*model.rest, model.rest->layout().neutral);
}

}  // namespace

void full_archive(std::string_view bytes) {
  with_archives(bytes, [](const Archive& archive) {
    const Result<FullModel> model = decode_full_model(archive);
    if (!model.ok()) return require(!model.error().message.empty(), "refusals say why");
    check(*model);
    for (const auto& materials : model->pose_materials)
      require(materials.size() == model->mesh.elements.size(), "materials of poses cover the elements");
    require(encode_full_model(*model).ok(), "what we read we can write");
  });
}

void quasistatic_archive(std::string_view bytes) {
  with_archives(bytes, [](const Archive& archive) {
    const Result<QuasistaticModel> model = decode_quasistatic_model(archive);
    if (!model.ok()) return require(!model.error().message.empty(), "refusals say why");
    check(*model);
    require(model->blends.first.size() == model->mesh.vertices.size() + 1, "every vertex turns");
    require(in_range(model->blends.site, to_size(model->site_count())), "sites exist");
    require(encode_quasistatic_model(*model).ok(), "what we read we can write");
  });
}

void domain_archive(std::string_view bytes) {
  with_archives(bytes, [](const Archive& archive) {
    const Result<DomainModel> model = decode_domain_model(archive);
    if (!model.ok()) return require(!model.error().message.empty(), "refusals say why");
    require(check_domain_model(*model).ok(), "what is read fits together");
    (void)encode_domain_model(*model);
    Result<PreparedTree> tree = prepare_tree(*model);
    if (!tree.ok()) return;
    Result<DomainDynamics> dynamics =
        DomainDynamics::create(std::make_shared<const PreparedTree>(std::move(*tree)), {});
    if (!dynamics.ok()) return;
    for (int k = 0; k < 2; ++k) dynamics->step();
    for (const double q : dynamics->coordinates()) require(std::isfinite(q), "no NaN leaves a step");
  });
}

void bvh(std::string_view bytes) {
  const Result<BvhMotion> motion = parse_bvh(bytes, "input");
  if (!motion.ok()) {
    require(motion.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  for (Index j = 0; j < motion->skeleton.size(); ++j)
    require(motion->skeleton.joints[to_size(j)].parent < j, "parents come first");
  for (const Channel& channel : motion->clip.channels) {
    require(channel.joint >= 0 && channel.joint < motion->skeleton.size(), "channels move joints");
    require(channel.values.size() == channel.times.size() * to_size(channel.width), "keys are whole");
    for (const double value : channel.values) require(std::isfinite(value), "numbers are finite");
  }
}

namespace {

void check(const HandleRig& rig) {
  require(!rig.handles.empty(), "there are handles");
  for (const Handle& handle : rig.handles) {
    require(handle.parent >= -1 && handle.parent < rig.size(), "parents exist");
    require(handle.head.allFinite() && handle.tail.allFinite() && handle.rest.matrix().allFinite(),
            "places are finite");
  }
  const Result<std::vector<Index>> order = parents_first(rig, "input");
  require(order.ok() && order->size() == rig.handles.size(), "no bone is above itself");
}

void check(const Result<HandleMotion>& motion, const HandleRig& rig) {
  if (!motion.ok()) {
    require(motion.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  require(!motion->frames.empty(), "there are frames");
  require(motion->root.empty() || motion->root.size() == motion->frames.size(), "the root moves in every frame");
  for (const std::vector<Affine>& frame : motion->frames)
    require(frame.size() == rig.handles.size(), "every handle moves in every frame");
}

/// Two handles, one below the other where they are bones.
HandleRig two_handles(bool bones) {
  return parse_tgf(bones ? "1 0 0 0\n2 0 1 0\n3 0 2 0\n#\n1 2 1\n2 3 1\n" : "1 0 0 0\n2 0 1 0\n#\n", "two").value();
}

}  // namespace

void tgf(std::string_view bytes) {
  const Result<HandleRig> rig = parse_tgf(bytes, "input");
  if (rig.ok())
    check(*rig);
  else
    require(rig.error().message.ends_with('.'), "refusals are sentences");
}

void dmat(std::string_view bytes) {
  const Result<MatX> matrix = parse_dmat(bytes, "input");
  if (!matrix.ok()) {
    require(matrix.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  require(matrix->size() > 0 && matrix->allFinite(), "there are numbers");
  const Result<MatX> again = parse_dmat(encode_dmat(*matrix), "again");
  require(again.ok() && *again == *matrix, "what we write we can read");
}

void handle_motion(std::string_view bytes) {
  for (const bool bones : {false, true}) {
    const HandleRig rig = two_handles(bones);
    check(parse_handle_motion(bytes, "input", rig), rig);
  }
}

void handle_json(std::string_view bytes) {
  HandleRig one = two_handles(true);
  one.handles.resize(1);
  check(parse_handle_frames(bytes, "input", one), one);
  const Result<std::variant<JsonRig, HandleExample>> parsed = parse_handle_json(bytes, "input");
  if (!parsed.ok()) {
    require(parsed.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  const auto* rig = std::get_if<JsonRig>(&*parsed);
  if (rig == nullptr) return;
  check(rig->rig);
  check(rig->surface);
  require(rig->weights.allFinite() && rig->weights.cols() == rig->rig.size(), "weights have a column for each bone");
  require(to_size(rig->weights.rows()) == rig->surface.vertices.size(), "weights have a row for each vertex");
}

void mdd(std::string_view bytes) {
  const Result<MddCache> cache = parse_mdd(bytes, "input");
  if (!cache.ok()) {
    require(cache.error().message.ends_with('.'), "refusals are sentences");
    return;
  }
  require(cache->frames.size() == cache->times.size(), "every frame has its time");
  for (const double time : cache->times) require(std::isfinite(time), "times are finite");
  for (const std::vector<Vec3>& frame : cache->frames) {
    require(frame.size() == cache->frames.front().size(), "frames have the same points");
    for (const Vec3& point : frame) require(point.allFinite(), "points are finite");
  }
}

void recipe(std::string_view bytes) {
  const Result<Recipe> read = parse_recipe(bytes, "input", ".");
  if (!read.ok()) {
    require(read.error().kind == ErrorKind::input, "a bad recipe is the user's");
    require(read.error().message.starts_with("input"), "refusals name the file");
    return;
  }
  require(std::isfinite(read->material.frequency.value_or(0)) && std::isfinite(read->flesh.damping.value_or(0)),
          "numbers are finite");
  const Result<Recipe> again = parse_recipe(write_recipe(*read, {}), "input", ".");
  require(again.ok(), "what is written can be read");
}

void plant_recipe(std::string_view bytes) {
  const Result<PlantRecipe> read = parse_plant_recipe(bytes, "input");
  if (!read.ok()) {
    require(read.error().kind == ErrorKind::input, "a bad recipe is the user's");
    require(read.error().message.starts_with("input"), "refusals name the file");
    return;
  }
  require(std::isfinite(read->sway) && std::isfinite(read->rate) && read->wind.direction.allFinite(),
          "numbers are finite");
  const Result<PlantRecipe> again = parse_plant_recipe(write_plant_recipe(*read, {}), "input");
  require(again.ok(), "what is written can be read");
}

void scene(std::string_view bytes) {
  for (const SceneUse use : {SceneUse::run, SceneUse::build}) {
    const Result<Scene> read = parse_scene(bytes, "input", ".", use);
    if (!read.ok()) {
      require(read.error().kind == ErrorKind::input, "a bad scene is the user's");
      require(read.error().message.starts_with("input"), "refusals name the file");
      continue;
    }
    require(read->gravity.allFinite(), "gravity is finite");
    require(read->step_count() >= 1, "there are steps");
    for (const SceneForce& force : read->forces) require(force.newtons.allFinite(), "forces are finite");
  }
}

}  // namespace supple::fuzz
