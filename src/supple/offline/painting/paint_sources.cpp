// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/painting/paint_sources.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/io/file.h"
#include "supple/io/text_scanner.h"
#include "supple/offline/painting/carry_paint.h"

#include <algorithm>

namespace supple {
namespace {

std::string hint_for(std::string_view wrong, const std::vector<std::string_view>& names) {
  if (names.empty()) return "there are none";
  const std::string_view near = nearest_name(wrong, names);
  return near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", near);
}

const VertexAttribute* find_attribute(const Surface& surface, std::string_view name) {
  for (const VertexAttribute& attribute : surface.attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

Error no_attribute(const RawCharacter& character, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CharacterMesh& mesh : character.meshes) {
    for (const VertexAttribute& attribute : mesh.surface.attributes)
      if (std::find(names.begin(), names.end(), attribute.name) == names.end()) names.push_back(attribute.name);
  }
  return input_error(fmt::format("no mesh has the attribute \"{}\" to paint with; {}", name, hint_for(name, names)));
}

Result<std::vector<double>> numbers_in(std::string_view text, const std::string& name, std::size_t expected,
                                       std::string_view what, bool gaps) {
  TextScanner scanner(text, name, {.comment = '#', .commas_separate = true});
  std::vector<double> values;
  while (!scanner.at_end()) {
    double value = 0;
    if (!scanner.read(value)) return scanner.error();
    if (std::isinf(value) || (std::isnan(value) && !gaps)) return scanner.fail("paint must be finite numbers");
    values.push_back(value);
  }
  if (values.size() == expected) return values;
  return input_error(fmt::format("{}: {} numbers for {} {}; write one for each", name, values.size(), expected, what));
}

}  // namespace

Result<std::vector<double>> paint_from_attribute(const RawCharacter& character, std::string_view attribute,
                                                 int channel) {
  std::vector<double> paint;
  bool found = false;
  for (const CharacterMesh& mesh : character.meshes) {
    const std::size_t first = paint.size(), count = mesh.surface.vertices.size();
    paint.resize(first + count, unpainted);
    const VertexAttribute* values = find_attribute(mesh.surface, attribute);
    if (values == nullptr) continue;
    if (channel < 0 || channel >= values->components)
      return input_error(fmt::format("the attribute \"{}\" of mesh \"{}\" has {} channels; there is no channel {}",
                                     attribute, mesh.name, values->components, channel + 1));
    found = true;
    for (std::size_t v = 0; v < count; ++v)
      paint[first + v] = static_cast<double>(values->values[v * to_size(values->components) + to_size(channel)]);
  }
  if (!found) return no_attribute(character, attribute);
  return paint;
}

Result<std::vector<double>> paint_from_text(const RawCharacter& character, std::string_view text,
                                            const std::string& name) {
  std::size_t expected = 0;
  for (const CharacterMesh& mesh : character.meshes)
    for (const std::vector<Index>& primitive : mesh.welded_vertex) expected += primitive.size();
  const Result<std::vector<double>> numbers =
      numbers_in(text, name, expected, "vertices of the character's file", true);
  SUPPLE_RETURN_IF_ERROR(numbers);
  std::vector<double> paint;
  std::size_t next = 0;
  for (const CharacterMesh& mesh : character.meshes) {
    const std::size_t first = paint.size();
    std::vector<double> sum(mesh.surface.vertices.size(), 0.0), share(sum.size(), 0.0);
    paint.resize(first + sum.size(), unpainted);
    for (const std::vector<Index>& primitive : mesh.welded_vertex) {
      for (const Index v : primitive) {
        const double number = (*numbers)[next++];
        if (std::isnan(number)) continue;
        sum[to_size(v)] += number;
        share[to_size(v)] += 1;
      }
    }
    for (std::size_t v = 0; v < sum.size(); ++v)
      if (share[v] > 0) paint[first + v] = sum[v] / share[v];
  }
  return paint;
}

Result<std::vector<double>> load_paint(const RawCharacter& character, const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return paint_from_text(character, *text, path.string());
}

Result<std::vector<double>> tet_paint_from_text(std::string_view text, const std::string& name, std::size_t elements) {
  return numbers_in(text, name, elements, "tetrahedra", false);
}

Result<std::vector<double>> load_tet_paint(const std::filesystem::path& path, std::size_t elements) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return tet_paint_from_text(*text, path.string(), elements);
}

std::vector<double> share_of_joints(const RawCharacter& character, std::span<const Index> joints) {
  std::vector<char> chosen(character.skeleton.joints.size(), 0);
  for (const Index joint : joints) chosen[to_size(joint)] = 1;
  std::vector<double> share;
  for (const CharacterMesh& mesh : character.meshes) {
    for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
      double sum = mesh.skin < 0 ? chosen[to_size(mesh.node)] : 0;
      if (mesh.skin >= 0) {
        const Skin& skin = character.skins[to_size(mesh.skin)];
        for (Index k = mesh.weights.first[v]; k < mesh.weights.first[v + 1]; ++k) {
          const Index joint = skin.joints[to_size(mesh.weights.joint[to_size(k)])];
          if (chosen[to_size(joint)]) sum += mesh.weights.weight[to_size(k)];
        }
      }
      share.push_back(sum);
    }
  }
  return share;
}

}  // namespace supple
