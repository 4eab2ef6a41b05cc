// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/glb.h"

#include "supple/io/file.h"
#include "supple/io/gltf/gltf_content.h"
#include "supple/mesh/normals.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>

namespace supple {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

// glTF's numbers for component types and buffer targets.
constexpr int float_type = 5126, unsigned_short_type = 5123, unsigned_int_type = 5125;
constexpr int vertex_target = 34962, index_target = 34963;

// ---- checks ---------------------------------------------------------------------------------------------------------

bool all_finite(const std::vector<Vec3>& points) {
  return std::all_of(points.begin(), points.end(), [](const Vec3& p) { return p.allFinite(); });
}

Status check_object(const GlbObject& object) {
  const auto complain = [&](std::string_view fault) {
    return usage_error(fmt::format("The glTF object '{}' {}.", object.name, fault));
  };
  const std::size_t vertices = object.surface.vertices.size();
  if (object.surface.triangles.empty()) return complain("has no triangles");
  if (!all_finite(object.surface.vertices)) return complain("has vertices that are not finite numbers");
  if (!object.colors.empty() && object.colors.size() != vertices) return complain("doesn't have one colour per vertex");
  for (const Triangle& t : object.surface.triangles) {
    for (const Index v : t) {
      if (v < 0 || to_size(v) >= vertices) return complain("has a triangle with a vertex that doesn't exist");
    }
  }
  for (const MorphTarget& target : object.targets) {
    if (target.displacements.size() != vertices)
      return complain("has a morph target without one displacement per vertex");
    if (!all_finite(target.displacements)) return complain("has displacements that are not finite numbers");
  }
  return {};
}

Status check_track(const WeightTrack& track, const GlbModel& model, const std::string& clip) {
  const auto complain = [&](std::string_view fault) {
    return usage_error(fmt::format("The glTF clip '{}' {}.", clip, fault));
  };
  if (track.object >= model.objects.size()) return complain("moves an object that doesn't exist");
  const std::size_t targets = model.objects[track.object].targets.size();
  if (targets == 0) return complain("moves an object without morph targets");
  if (track.times.empty()) return complain("has no keys");
  if (track.weights.size() != track.times.size() * targets)
    return complain("doesn't have one weight per key and target");
  for (std::size_t k = 0; k < track.times.size(); ++k) {
    // Compared in single precision, in which they are stored.
    const bool ascends =
        k == 0 ? track.times[0] >= 0 : static_cast<float>(track.times[k]) > static_cast<float>(track.times[k - 1]);
    if (!ascends || !std::isfinite(track.times[k])) return complain("has key times that don't ascend from zero");
  }
  if (!std::all_of(track.weights.begin(), track.weights.end(), [](double w) { return std::isfinite(w); }))
    return complain("has weights that are not finite numbers");
  return {};
}

Status check(const GlbModel& model) {
  if (model.objects.empty()) return usage_error("A glTF file needs at least one object.");
  for (const GlbObject& object : model.objects) SUPPLE_RETURN_IF_ERROR(check_object(object));
  for (const GlbClip& clip : model.clips) {
    if (clip.tracks.empty()) return usage_error(fmt::format("The glTF clip '{}' has no tracks.", clip.name));
    for (const WeightTrack& track : clip.tracks) SUPPLE_RETURN_IF_ERROR(check_track(track, model, clip.name));
  }
  return {};
}

// ---- arrays ---------------------------------------------------------------------------------------------------------

// The document under construction: JSON in `root`, arrays in `binary`. Each array has a view of its own.
struct Document {
  Json root = {{"asset", {{"version", "2.0"}, {"generator", "Supple"}}}};
  std::string binary;

  int append(Json accessor, const void* data, std::size_t size, int target = 0) {
    Json view = {{"buffer", 0}, {"byteOffset", binary.size()}, {"byteLength", size}};
    if (target != 0) view["target"] = target;
    binary.append(static_cast<const char*>(data), size);
    binary.append((4 - binary.size() % 4) % 4, '\0');
    accessor["bufferView"] = root["bufferViews"].size();
    root["bufferViews"].push_back(std::move(view));
    root["accessors"].push_back(std::move(accessor));
    return static_cast<int>(root["accessors"].size()) - 1;
  }
};

std::vector<float> flat_vectors(const std::vector<Vec3>& vectors) {
  std::vector<float> values;
  values.reserve(3 * vectors.size());
  for (const Vec3& v : vectors) {
    for (const double x : v) values.push_back(static_cast<float>(x) + 0.0f);  // + 0 turns -0 into 0
  }
  return values;
}

// Positions and their displacements must state their range, exactly as stored.
int append_glb_vectors(Document& document, const std::vector<Vec3>& vectors, bool with_range) {
  const std::vector<float> values = flat_vectors(vectors);
  Json accessor = {{"componentType", float_type}, {"count", vectors.size()}, {"type", "VEC3"}};
  if (with_range) {
    std::array<float, 3> low{values[0], values[1], values[2]}, high = low;
    for (std::size_t i = 0; i < values.size(); ++i) {
      low[i % 3] = std::min(low[i % 3], values[i]);
      high[i % 3] = std::max(high[i % 3], values[i]);
    }
    accessor["min"] = low;
    accessor["max"] = high;
  }
  return document.append(std::move(accessor), values.data(), values.size() * sizeof(float), vertex_target);
}

int append_scalars(Document& document, const std::vector<double>& numbers, bool with_range) {
  std::vector<float> values(numbers.begin(), numbers.end());
  Json accessor = {{"componentType", float_type}, {"count", values.size()}, {"type", "SCALAR"}};
  if (with_range) {
    accessor["min"] = {*std::min_element(values.begin(), values.end())};
    accessor["max"] = {*std::max_element(values.begin(), values.end())};
  }
  return document.append(std::move(accessor), values.data(), values.size() * sizeof(float));
}

int append_indices(Document& document, const std::vector<Triangle>& triangles, std::size_t vertices) {
  Json accessor = {{"count", 3 * triangles.size()}, {"type", "SCALAR"}};
  if (vertices < 65535) {  // 65535 itself is reserved
    std::vector<std::uint16_t> indices;
    for (const Triangle& t : triangles) indices.insert(indices.end(), t.begin(), t.end());
    accessor["componentType"] = unsigned_short_type;
    return document.append(std::move(accessor), indices.data(), indices.size() * sizeof(std::uint16_t), index_target);
  }
  accessor["componentType"] = unsigned_int_type;
  return document.append(std::move(accessor), triangles.data(), triangles.size() * sizeof(Triangle), index_target);
}

// glTF's vertex colours are linear; 16 bits keep the dark ones smooth.
int append_colors(Document& document, const std::vector<Color>& colors, const std::vector<Index>& source) {
  std::vector<std::uint16_t> values;
  for (const Index v : source) {
    const Color linear = to_linear(colors[to_size(v)]);
    for (const float c : linear) values.push_back(static_cast<std::uint16_t>(std::lround(65535 * c)));
    values.push_back(65535);
  }
  Json accessor = {
      {"componentType", unsigned_short_type}, {"normalized", true}, {"count", source.size()}, {"type", "VEC4"}};
  return document.append(std::move(accessor), values.data(), values.size() * sizeof(std::uint16_t), vertex_target);
}

// ---- objects and clips ----------------------------------------------------------------------------------------------

std::vector<Vec3> gather(const std::vector<Vec3>& values, const std::vector<Index>& source) {
  std::vector<Vec3> gathered;
  gathered.reserve(source.size());
  for (const Index v : source) gathered.push_back(values[to_size(v)]);
  return gathered;
}

// A unit normal in single precision: the file promises length one to readers.
std::vector<Vec3> normals_at(const CreasedSurface& split, const std::vector<Vec3>& displacements) {
  std::vector<Vec3> positions = split.surface.vertices;
  for (std::size_t v = 0; v < positions.size(); ++v) positions[v] += displacements[v];
  return vertex_normals(split.surface.triangles, positions);
}

Json append_glb_target(Document& document, const CreasedSurface& split, const std::vector<Vec3>& normals,
                       const MorphTarget& target) {
  const std::vector<Vec3> displacements = gather(target.displacements, split.source_vertex);
  std::vector<Vec3> change = normals_at(split, displacements);
  for (std::size_t v = 0; v < change.size(); ++v) change[v] -= normals[v];
  return {{"POSITION", append_glb_vectors(document, displacements, true)},
          {"NORMAL", append_glb_vectors(document, change, false)}};
}

Json material_of(const GlbObject& object) {
  const Color c = to_linear(object.material.color);
  Json material = {{"name", object.name},
                   {"pbrMetallicRoughness",
                    {{"baseColorFactor", {c[0], c[1], c[2], 1.0}},
                     {"metallicFactor", std::clamp(object.material.metallic, 0.0, 1.0)},
                     {"roughnessFactor", std::clamp(object.material.roughness, 0.0, 1.0)}}}};
  if (object.material.double_sided) material["doubleSided"] = true;
  return material;
}

void append_object(Document& document, const GlbObject& object) {
  const CreasedSurface split = split_at_creases(object.surface, object.crease_degrees);
  const std::vector<Vec3> normals = vertex_normals(split.surface.triangles, split.surface.vertices);
  Json primitive = {{"mode", 4}, {"material", document.root["materials"].size()}};
  primitive["attributes"] = {{"POSITION", append_glb_vectors(document, split.surface.vertices, true)},
                             {"NORMAL", append_glb_vectors(document, normals, false)}};
  if (!object.colors.empty())
    primitive["attributes"]["COLOR_0"] = append_colors(document, object.colors, split.source_vertex);
  primitive["indices"] = append_indices(document, split.surface.triangles, split.surface.vertices.size());
  Json mesh = {{"name", object.name}};
  if (!object.targets.empty()) {
    mesh["weights"] = std::vector<double>(object.targets.size(), 0.0);
    for (const MorphTarget& target : object.targets) {
      primitive["targets"].push_back(append_glb_target(document, split, normals, target));
      mesh["extras"]["targetNames"].push_back(target.name);  // where viewers look for names
    }
  }
  mesh["primitives"] = Json::array({primitive});
  const std::size_t number = document.root["nodes"].size();
  document.root["materials"].push_back(material_of(object));
  document.root["meshes"].push_back(std::move(mesh));
  document.root["nodes"].push_back({{"name", object.name}, {"mesh", number}});
  document.root["scenes"][0]["nodes"].push_back(number);
}

void append_clip(Document& document, const GlbClip& clip) {
  Json animation = {{"name", clip.name}};
  for (const WeightTrack& track : clip.tracks) {
    animation["channels"].push_back(
        {{"sampler", animation["samplers"].size()}, {"target", {{"node", track.object}, {"path", "weights"}}}});
    const int input = append_scalars(document, track.times, true);
    const int output = append_scalars(document, track.weights, false);
    animation["samplers"].push_back({{"input", input}, {"output", output}, {"interpolation", "LINEAR"}});
  }
  document.root["animations"].push_back(std::move(animation));
}

Result<std::string> assembled(Document& document) {
  document.root["scene"] = 0;
  document.root["buffers"] = Json::array({{{"byteLength", document.binary.size()}}});
  const std::string text =
      document.root.dump(-1, ' ', false, Json::error_handler_t::replace);  // for names in bad UTF-8
  if (text.size() + document.binary.size() > largest_glb - 64)
    return failure("The glTF animation needs more than 4 GiB, which the GLB format can't hold; export fewer frames.");
  return glb_container(text, document.binary);
}

}  // namespace

Result<std::string> glb_bytes(const GlbModel& model) {
  SUPPLE_RETURN_IF_ERROR(check(model));
  Document document;
  for (const GlbObject& object : model.objects) append_object(document, object);
  for (const GlbClip& clip : model.clips) append_clip(document, clip);
  return assembled(document);
}

Status write_glb(const std::filesystem::path& path, const GlbModel& model) {
  const Result<std::string> bytes = glb_bytes(model);
  if (!bytes) return bytes.error();
  return write_file_atomically(path, *bytes);
}

WeightTrack add_frames(GlbObject& object, const std::vector<std::vector<Vec3>>& frames, double frames_per_second) {
  WeightTrack track;
  object.targets.clear();
  const std::size_t targets = frames.empty() ? 0 : frames.size() - 1;
  track.weights.assign(frames.size() * targets, 0.0);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    SUPPLE_ASSERT(frames[f].size() == frames[0].size());
    track.times.push_back(static_cast<double>(f) / frames_per_second);
    if (f == 0) {
      object.surface.vertices = frames[0];
      continue;
    }
    MorphTarget target{fmt::format("frame {}", f), frames[f]};
    for (std::size_t v = 0; v < target.displacements.size(); ++v) target.displacements[v] -= frames[0][v];
    object.targets.push_back(std::move(target));
    track.weights[f * targets + f - 1] = 1;
  }
  return track;
}

}  // namespace supple
