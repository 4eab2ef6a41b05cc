// SPDX-License-Identifier: Apache-2.0
#include "character_report.h"

#include "command.h"
#include "report_rows.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/rest_surface.h"

#include <algorithm>

namespace supple {
namespace {

std::size_t most_influences(const CharacterMesh& mesh) {
  std::size_t most = 0;
  for (std::size_t v = 1; v < mesh.weights.first.size(); ++v)
    most = std::max(most, to_size(mesh.weights.first[v] - mesh.weights.first[v - 1]));
  return most;
}

std::size_t file_vertices(const CharacterMesh& mesh) {
  std::size_t count = 0;
  for (const std::vector<Index>& primitive : mesh.welded_vertex) count += primitive.size();
  return count;
}

void add_contents(ReportRows& out, const GltfSummary& summary) {
  if (!summary.generator.empty()) out.row("made by", "{}", summary.generator);
  out.row("contents", "{}, {}, {}, {}, {}", counted(summary.nodes, "node", "nodes"),
          counted(summary.meshes, "mesh", "meshes"), counted(summary.materials, "material", "materials"),
          counted(summary.images, "image", "images"), counted(summary.cameras, "camera", "cameras"));
  out.list("extensions", summary.extensions);
  out.json["generator"] = summary.generator;
  out.json["nodes"] = summary.nodes;
  out.json["materials"] = summary.materials;
  out.json["images"] = summary.images;
  out.json["cameras"] = summary.cameras;
  out.json["extensions"] = summary.extensions;
}

void add_meshes(ReportRows& out, const RawCharacter& character) {
  std::vector<std::string> lines;
  Json meshes = Json::array();
  for (const CharacterMesh& mesh : character.meshes) {
    const std::size_t welded = mesh.surface.vertices.size(), vertices = file_vertices(mesh);
    const std::size_t triangles = mesh.surface.triangles.size(), influences = most_influences(mesh);
    std::string line = fmt::format("{}: {} ({} in the file), {}", mesh.name, counted(welded, "vertex", "vertices"),
                                   vertices, counted(triangles, "triangle", "triangles"));
    line += mesh.skin < 0 ? ", rigid" : fmt::format(", up to {} per vertex", counted(influences, "joint", "joints"));
    if (!mesh.targets.empty()) line += ", " + counted(mesh.targets.size(), "morph target", "morph targets");
    lines.push_back(std::move(line));
    Json targets = Json::array();
    for (const MorphTarget& target : mesh.targets) targets.push_back(target.name);
    meshes.push_back({{"name", mesh.name},
                      {"vertices", welded},
                      {"file_vertices", vertices},
                      {"triangles", triangles},
                      {"skin", mesh.skin},
                      {"influences", influences},
                      {"morph_targets", std::move(targets)}});
  }
  out.list("meshes", lines);
  out.json["meshes"] = std::move(meshes);
}

void add_skins(ReportRows& out, const RawCharacter& character) {
  std::vector<std::string> lines;
  Json skins = Json::array();
  for (const Skin& skin : character.skins) {
    lines.push_back(fmt::format("{}: {}", skin.name, counted(skin.joints.size(), "joint", "joints")));
    Json joints = Json::array();
    for (const Index j : skin.joints) joints.push_back(character.skeleton.joints[to_size(j)].name);
    skins.push_back({{"name", skin.name}, {"joints", std::move(joints)}});
  }
  if (lines.empty()) lines.emplace_back("none, so this is no character to simulate");
  out.list("skins", lines);
  out.json["skins"] = std::move(skins);
}

/// As many names to a line as fit.
void add_joints(ReportRows& out, const RawCharacter& character) {
  constexpr std::size_t width = 100;
  std::vector<std::string> lines;
  Json names = Json::array();
  for (const Joint& joint : character.skeleton.joints) {
    names.push_back(joint.name);
    if (lines.empty() || lines.back().size() + joint.name.size() > width)
      lines.push_back(joint.name);
    else
      lines.back() += ", " + joint.name;
  }
  out.list("joints", lines);
  out.json["joints"] = std::move(names);
}

void add_clips(ReportRows& out, const RawCharacter& character) {
  std::vector<std::string> lines;
  Json clips = Json::array();
  for (const Clip& clip : character.clips) {
    lines.push_back(fmt::format("{}: {:.3f} s, {}", clip.name, clip.duration,
                                counted(clip.channels.size(), "channel", "channels")));
    clips.push_back({{"name", clip.name}, {"duration", clip.duration}, {"channels", clip.channels.size()}});
  }
  out.list("clips", lines);
  out.json["clips"] = std::move(clips);
}

}  // namespace

Result<MeshReport> describe_character_file(const std::string& file) {
  const Result<GltfDocument> document = load_gltf(file);
  SUPPLE_RETURN_IF_ERROR(document);
  const Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(character);
  Result<Surface> surface = rest_surface(*character);
  SUPPLE_RETURN_IF_ERROR(surface);
  ReportRows out;
  add_contents(out, summarize(*document));
  add_meshes(out, *character);
  add_skins(out, *character);
  add_joints(out, *character);
  add_clips(out, *character);
  // What follows is the surface at rest, as of any mesh.
  MeshReport mesh = describe_mesh(LoadedMesh{std::move(*surface), "glTF 2.0", character->warnings});
  mesh.json.update(out.json);
  const std::size_t first_line = mesh.text.find('\n') + 1;
  mesh.text.insert(first_line, out.text);
  return mesh;
}

}  // namespace supple
