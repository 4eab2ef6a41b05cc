// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/view_page.h"

#include "supple/io/deflate.h"
#include "supple/io/gltf/gltf_uri.h"
#include "supple/mesh/point_tree.h"
#include "supple/mesh/quality.h"
#include "supple/offline/fitting/flesh_stiffness.h"
#include "supple/pipeline/character/character_body.h"
#include "supple/pipeline/character/feel.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <map>

namespace supple {
namespace {

static_assert(std::endian::native == std::endian::little, "browsers read numbers as they lie in memory");

constexpr std::string_view place_of_data = "<!--supple:data-->";

/// The file as one that stands alone: compressed meshes are plain, images are inside.
std::string standalone_glb(const GltfDocument& document) {
  GltfDocument whole = document;
  embed_images(whole);
  return encode_glb(whole);
}

std::string element_of(const ViewBlock& block) {
  const std::string text = encode_data_uri("", deflate(block.bytes, 6));
  return fmt::format("<script type=\"application/octet-stream\" id=\"supple-{}\">{}</script>\n", block.name,
                     std::string_view(text).substr(text.find(',') + 1));
}

std::string description_of(const ViewThing& thing) {
  nlohmann::ordered_json json = {{"kind", thing.kind}, {"name", thing.name}};
  if (!thing.original.empty()) json["original"] = thing.original;
  if (thing.kind == "character") {
    json["bind"] = thing.bind;
    json["damping"] = thing.damping;
  }
  if (thing.nodes > 0) json["nodes"] = thing.nodes;
  if (!thing.regions.empty()) json["regions"] = thing.regions;
  if (thing.solid) {
    json["elementNodes"] = thing.solid->nodes;
    json["materials"] = thing.solid->materials;
    json["frequencies"] = thing.solid->frequencies;
  }
  // A name may hold anything, but nothing that ends the element. Bytes that are no text are replaced.
  std::string text = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return fmt::format("<script type=\"application/json\" id=\"supple-what\">{}</script>\n", text);
}

template <class Number>
ViewBlock block_of(std::string name, const std::vector<Number>& numbers) {
  static_assert(std::is_arithmetic_v<Number> && sizeof(Number) == 4);
  return {std::move(name), std::string(reinterpret_cast<const char*>(numbers.data()), sizeof(Number) * numbers.size())};
}

ViewBlock block_of_points(std::string name, std::span<const Vec3> points) {
  std::vector<float> numbers;
  for (const Vec3& x : points)
    for (int i = 0; i < 3; ++i) numbers.push_back(static_cast<float>(x[i]));
  return block_of(std::move(name), numbers);
}

/// Young's modulus of each vertex of the skin, in kilopascals as floats; 0 where it follows the rig exactly.
std::vector<float> stiffness_of_skin(const EmbeddedBody& body) {
  std::vector<float> young;
  for (std::size_t v = 0; v < body.skin.vertices.size(); ++v) {
    const bool held = v < body.hard.size() && body.hard[v] != 0;
    young.push_back(held ? 0.0f
                         : static_cast<float>(body.mesh.material_of(to_size(body.embedding.element[v])).young * 1e-3));
  }
  return young;
}

/// What each tetrahedron belongs to: the bones where they hold all of its corners, the region that has most of it, or
/// just the flesh.
void add_regions(const std::vector<BodyRegion>& regions, ViewFlesh& flesh) {
  const TetMesh& mesh = flesh.body.mesh;
  flesh.regions = {"bone", "flesh"};
  for (const BodyRegion& region : regions) flesh.regions.push_back(region.name);
  std::vector<char> held(mesh.vertices.size(), 0);
  for (const Index v : flesh.body.fixed_vertices) held[to_size(v)] = 1;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto& corners = mesh.elements[e];
    std::uint32_t& number = flesh.region.emplace_back(1);
    double most = 0.5;  // of a tetrahedron: less is a fringe
    for (std::size_t k = 0; k < regions.size(); ++k)
      if (regions[k].share[e] >= most) {
        most = regions[k].share[e];
        number = static_cast<std::uint32_t>(k + 2);
      }
    if (std::all_of(corners.begin(), corners.end(), [&](Index v) { return held[to_size(v)] != 0; })) number = 0;
  }
}

/// The region of each vertex of the skin.
std::vector<std::uint32_t> regions_of_skin(const ViewFlesh& flesh) {
  const EmbeddedBody& body = flesh.body;
  std::vector<std::uint32_t> numbers;
  for (std::size_t v = 0; v < body.skin.vertices.size(); ++v)
    numbers.push_back(v < body.hard.size() && body.hard[v] != 0 ? 0 : flesh.region[to_size(body.embedding.element[v])]);
  return numbers;
}

/// How much of the flesh each element of cubature stands for, in the neutral pose, as multiples of its own volume.
/// Assets number only the vertices that they need: where these rest in the neutral pose tells which they are.
std::vector<float> cubature_of(const CharacterAsset& asset, const EmbeddedBody& body) {
  const TetMesh& mesh = body.mesh;
  const Rig& rest = *asset.model->rest;
  const PointTree tree(mesh.vertices);
  std::vector<Index> vertex;
  for (const Vec3& x : evaluate_all(rest, rest.layout().neutral)) {
    const PointTree::Neighbour nearest = tree.nearest(x, 1).front();
    vertex.push_back(nearest.distance < 1e-4 * body.extent() ? nearest.point : -1);
  }
  std::map<std::array<Index, 4>, std::size_t> number;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    auto corners = mesh.elements[e];
    std::sort(corners.begin(), corners.end());
    number[corners] = e;
  }
  std::vector<float> weight(mesh.elements.size(), 0.0f);
  for (const ElementBlock& block : asset.model->elements)
    for (std::size_t t = 0; t < block.tets.size(); ++t) {
      std::array<Index, 4> corners{};
      for (std::size_t k = 0; k < 4; ++k)
        corners[k] = vertex[to_size(asset.model->points[to_size(block.tets[t].points[k])])];
      std::sort(corners.begin(), corners.end());
      const auto found = number.find(corners);
      if (found == number.end()) return {};
      const auto& x = mesh.vertices;
      const auto& tet = mesh.elements[found->second];
      const double volume = tet_volume(x[to_size(tet[0])], x[to_size(tet[1])], x[to_size(tet[2])], x[to_size(tet[3])]);
      weight[found->second] += static_cast<float>(block.weights(static_cast<Eigen::Index>(t), 0) / volume);
    }
  return weight;
}

bool is_body_of(const CharacterAsset& asset, const EmbeddedBody& body) {
  return static_cast<std::size_t>(asset.facts.tets) == body.mesh.elements.size() &&
         static_cast<std::size_t>(asset.facts.vertices) == body.mesh.vertices.size() &&
         static_cast<std::size_t>(asset.model->surface.vertex_count()) == body.skin.vertices.size();
}

/// Vertices, elements and materials.
template <int Nodes>
void add_solid(const VolumeMesh<Nodes>& mesh, ViewThing& thing) {
  ViewSolid& solid = thing.solid.emplace();
  solid.nodes = Nodes;
  thing.blocks.push_back(block_of_points("vertices", mesh.vertices));
  std::vector<std::uint32_t> nodes;
  for (const auto& element : mesh.elements)
    for (const Index k : element) nodes.push_back(static_cast<std::uint32_t>(k));
  thing.blocks.push_back(block_of("elements", nodes));
  std::vector<float> young;
  std::vector<std::uint32_t> material;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    young.push_back(static_cast<float>(mesh.material_of(e).young));
    material.push_back(mesh.element_material.empty() ? 0 : static_cast<std::uint32_t>(mesh.element_material[e]));
  }
  thing.blocks.push_back(block_of("stiffness", young));
  constexpr std::size_t most_named = 64;  // painted bodies have hundreds, without names
  if (mesh.materials.size() < 2 || mesh.materials.size() > most_named) return;
  thing.blocks.push_back(block_of("materials", material));
  for (const ElasticMaterial& m : mesh.materials) solid.materials.push_back(m.name);
}

}  // namespace

Result<ViewFlesh> view_flesh(const CharacterSource& source, Progress& progress, StageStore& store) {
  Result<CharacterBody> made = make_body(source, progress, store);
  SUPPLE_RETURN_IF_ERROR(made);
  ViewFlesh flesh{std::move(made->body), {}, {}};
  add_regions(made->regions, flesh);
  if (!tunes_stiffness(source.recipe) || made->file_materials) return flesh;
  progress.stage("tuning the stiffness");
  // All materials have the same stiffness at rest.
  SUPPLE_RETURN_IF_ERROR(set_flesh_stiffness(flesh.body.mesh, flesh.body.fixed_vertices, MaterialModel::flesh,
                                             wanted_frequency(source.recipe), made->base.young));
  return flesh;
}

ViewThing view_tets(const CharacterSource& source, const ViewFlesh& flesh, const Asset* asset) {
  const EmbeddedBody& body = flesh.body;
  ViewThing thing{.kind = "solid", .name = source.character.name};
  add_solid(body.mesh, thing);
  thing.blocks.push_back(block_of_points("skin", body.skin.vertices));
  std::vector<std::uint32_t> corners, held(body.mesh.vertices.size(), 0);
  for (const Triangle& triangle : body.skin.triangles)
    for (const Index v : triangle) corners.push_back(static_cast<std::uint32_t>(v));
  thing.blocks.push_back(block_of("triangles", corners));
  for (const Index v : body.fixed_vertices) held[to_size(v)] = 1;
  thing.blocks.push_back(block_of("held", held));
  thing.regions = flesh.regions;
  thing.blocks.push_back(block_of("regions", flesh.region));
  const auto* reduced = asset != nullptr ? std::get_if<CharacterAsset>(asset) : nullptr;
  if (reduced == nullptr || !is_body_of(*reduced, body)) return thing;
  const std::vector<float> cubature = cubature_of(*reduced, body);
  if (!cubature.empty()) thing.blocks.push_back(block_of("cubature", cubature));
  return thing;
}

ViewThing view_solid(const SolidMesh& mesh, const std::string& name, const Modes* modes) {
  ViewThing thing{.kind = "solid", .name = name};
  std::visit([&](const auto& m) { add_solid(m, thing); }, mesh);
  if (modes == nullptr || modes->shapes.cols() == 0) return thing;
  // Each shape's largest displacement is one: how far it is shown is the page's choice.
  std::vector<float> shapes;
  for (Eigen::Index k = 0; k < modes->shapes.cols(); ++k) {
    const VecX shape = modes->shapes.col(k);
    const double largest =
        Eigen::Map<const Eigen::Matrix3Xd>(shape.data(), 3, shape.size() / 3).colwise().norm().maxCoeff();
    for (const double u : shape) shapes.push_back(static_cast<float>(u / largest));
    thing.solid->frequencies.push_back(modes->frequencies[k]);
  }
  thing.blocks.push_back(block_of("shapes", shapes));
  return thing;
}

Result<ViewThing> view_character(const SoftCharacter& soft, const ViewFlesh* flesh) {
  const auto* asset = std::get_if<CharacterAsset>(&soft.asset());
  if (asset == nullptr || !asset->drive)
    return input_error(fmt::format(
        "a page plays what the runtime plays, and this asset holds {}; build it with the engine \"posespace\", or bake "
        "it and show the baked file",
        contents_of(soft.asset())));
  const Result<std::string> bytes = encode_asset(soft.asset());
  SUPPLE_RETURN_IF_ERROR(bytes);
  ViewThing thing{.kind = "character", .name = soft.character().name};
  thing.bind = asset->drive->played.has_value();
  thing.damping = asset->damping;
  thing.blocks = {{"model", standalone_glb(soft.source().file.document)}, {"asset", *bytes}};
  if (flesh == nullptr || !is_body_of(*asset, flesh->body)) return thing;
  thing.blocks.push_back(block_of("stiffness", stiffness_of_skin(flesh->body)));
  thing.regions = flesh->regions;
  thing.blocks.push_back(block_of("regions", regions_of_skin(*flesh)));
  return thing;
}

Result<ViewThing> view_object(const std::filesystem::path& asset) {
  const Result<Asset> loaded = load_asset(asset);
  SUPPLE_RETURN_IF_ERROR(loaded);
  if (!std::holds_alternative<SubspaceModel>(*loaded) && !std::holds_alternative<DomainModel>(*loaded))
    return input_error(
        fmt::format("it holds {}, and no pictures; name the character it was built from, and this with --asset",
                    contents_of(*loaded)));
  const Result<std::string> bytes = encode_asset(*loaded);
  SUPPLE_RETURN_IF_ERROR(bytes);
  ViewThing thing{.kind = "object", .name = asset.stem().string()};
  thing.blocks = {{"asset", *bytes}};
  const auto* model = std::get_if<SubspaceModel>(&*loaded);
  if (model == nullptr) return thing;
  // Sketches are recorded for vertices of the simulation mesh.
  const PointTree tree(model->rest_positions);
  std::vector<std::uint32_t> nodes;
  for (const Vec3& x : model->surface.rest_positions)
    nodes.push_back(static_cast<std::uint32_t>(tree.nearest(x, 1).front().point));
  thing.blocks.push_back(block_of("nodes", nodes));
  thing.nodes = model->rest_positions.size();
  return thing;
}

Result<ViewThing> view_baked(const std::filesystem::path& baked, const std::filesystem::path& original) {
  ViewThing thing{.kind = "baked", .name = baked.stem().string()};
  const Result<GltfDocument> document = load_gltf(baked);
  SUPPLE_RETURN_IF_ERROR(document);
  thing.blocks.push_back({"model", standalone_glb(*document)});
  if (original.empty()) return thing;
  const Result<GltfDocument> other = load_gltf(original);
  SUPPLE_RETURN_IF_ERROR(other);
  thing.original = original.stem().string();
  thing.blocks.push_back({"original", standalone_glb(*other)});
  return thing;
}

Result<std::string> fill_view_page(std::string_view page, const ViewThing& thing) {
  const std::size_t place = page.find(place_of_data);
  if (place == std::string_view::npos)
    return input_error("it isn't the page that `./go web` builds, or something is in it already; build it again");
  std::string filled(page.substr(0, place));
  filled += description_of(thing);
  for (const ViewBlock& block : thing.blocks) filled += element_of(block);
  filled += page.substr(place + place_of_data.size());
  return filled;
}

Result<std::filesystem::path> find_view_page() {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  for (const char* place : {"../share/supple/view.html", "../web/view.html"}) {
    const std::filesystem::path page = (program.parent_path() / place).lexically_normal();
    if (!program.empty() && std::filesystem::is_regular_file(page, none)) return page;
  }
  return input_error("the web part isn't built, so there is no page to show things in; build it with `./go web`");
}

}  // namespace supple
