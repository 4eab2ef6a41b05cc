// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_rounding.h"

#include "supple/io/gltf/gltf_accessor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace supple {
namespace {

constexpr double direction_step = 0x1p-9, texture_step = 0x1p-14, turn_step = 0x1p-16;
constexpr double extent_share = 0x1p-16, travel_share = 0x1p-18;
constexpr double weight_step = 0x1p-11;

double power_of_two_below(double value) { return std::exp2(std::floor(std::log2(value))); }

/// Floats of a document that may be changed where they are.
class FloatArrays {
 public:
  explicit FloatArrays(GltfContent& content) : content_(content) {}

  bool is_ours(std::size_t accessor) const {
    const GltfJson& json = content_.root["accessors"][accessor];
    return json.contains("bufferView") && !json.contains("sparse") &&
           accessor_shape(content_, accessor).type == ComponentType::single;
  }

  /// Calls change(value) for every number.
  template <class Change>
  void change(std::size_t accessor, const Change& change) {
    const AccessorShape shape = accessor_shape(content_, accessor);
    for (std::size_t i = 0; i < shape.count; ++i) {
      for (std::size_t c = 0; c < shape.width(); ++c) {
        char* place = content_.binary.data() + start(accessor, shape, i) + 4 * c;
        float value = 0;
        std::memcpy(&value, place, 4);
        value = change(value);
        std::memcpy(place, &value, 4);
      }
    }
    if (content_.root["accessors"][accessor].contains("min")) (void)restate_range(content_, accessor);
  }

  void round(std::size_t accessor, double step) {
    if (!is_ours(accessor) || !(step > 0) || !done_.insert(accessor).second) return;
    change(accessor, [step](float value) { return static_cast<float>(std::nearbyint(value / step) * step) + 0.0f; });
  }

  /// The largest of all numbers, less the least of the same component.
  double extent(std::size_t accessor) const {
    const std::size_t width = accessor_shape(content_, accessor).width();
    const std::vector<double> numbers = accessor_numbers(content_, accessor);
    double most = 0;
    for (std::size_t c = 0; c < width; ++c) {
      double low = 1e300, high = -1e300;
      for (std::size_t i = c; i < numbers.size(); i += width)
        low = std::min(low, numbers[i]), high = std::max(high, numbers[i]);
      most = std::max(most, high - low);
    }
    return most;
  }

  double largest(std::size_t accessor) const {
    double most = 0;
    for (const double x : accessor_numbers(content_, accessor)) most = std::max(most, std::abs(x));
    return most;
  }

  GltfContent& content() { return content_; }

 private:
  std::size_t start(std::size_t accessor, const AccessorShape& shape, std::size_t element) const {
    const GltfJson& json = content_.root["accessors"][accessor];
    const GltfJson& view = content_.root["bufferViews"][json["bufferView"].get<std::size_t>()];
    return view.value("byteOffset", std::size_t{0}) + json.value("byteOffset", std::size_t{0}) +
           element * view.value("byteStride", shape.element_bytes());
  }

  GltfContent& content_;
  std::set<std::size_t> done_;
};

/// Weights of a vertex in all sets, in steps; the largest takes what the others leave of one.
void round_weights(FloatArrays& arrays, const std::vector<std::size_t>& sets, std::set<std::size_t>& done) {
  for (const std::size_t set : sets)
    if (!arrays.is_ours(set) || done.count(set) != 0) return;
  std::vector<std::vector<double>> numbers;
  for (const std::size_t set : sets) numbers.push_back(accessor_numbers(arrays.content(), set));
  for (std::size_t first = 0; first + 4 <= numbers.front().size(); first += 4) {
    double sum = 0, rounded = 0;
    double* largest = nullptr;
    for (std::vector<double>& set : numbers) {
      for (std::size_t i = first; i < std::min(first + 4, set.size()); ++i) {
        sum += set[i];
        if (largest == nullptr || set[i] > *largest) largest = &set[i];
      }
    }
    constexpr double as_good_as_one = 1e-3;
    if (std::abs(sum - 1) > as_good_as_one) continue;
    for (std::vector<double>& set : numbers)
      for (std::size_t i = first; i < std::min(first + 4, set.size()); ++i)
        rounded += set[i] = std::nearbyint(set[i] / weight_step) * weight_step;
    *largest += 1 - rounded;
  }
  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::size_t next = 0;
    arrays.change(sets[s], [&](float) { return static_cast<float>(numbers[s][next++]); });
    done.insert(sets[s]);
  }
}

void round_attribute(FloatArrays& arrays, const std::string& name, std::size_t accessor, double position_step) {
  if (name == "POSITION") arrays.round(accessor, position_step);
  if (name == "NORMAL" || name == "TANGENT" || name.starts_with("COLOR_")) arrays.round(accessor, direction_step);
  if (name.starts_with("TEXCOORD_")) arrays.round(accessor, texture_step);
}

void round_mesh(FloatArrays& arrays, const GltfJson& mesh, std::set<std::size_t>& weights_done) {
  const std::size_t accessors = accessor_count(arrays.content());
  double extent = 0;
  for (const GltfJson& primitive : json_array(mesh, "primitives")) {
    const auto position = json_index(json_object(primitive, "attributes", "a mesh"), "POSITION", accessors, "a mesh");
    if (position) extent = std::max(extent, arrays.extent(*position));
  }
  const double step = extent > 0 ? power_of_two_below(extent * extent_share) : 0;
  for (const GltfJson& primitive : json_array(mesh, "primitives")) {
    const GltfJson& attributes = json_object(primitive, "attributes", "a mesh");
    std::vector<std::size_t> sets;
    for (auto entry = attributes.begin(); entry != attributes.end(); ++entry) {
      const auto accessor = json_index(attributes, entry.key().c_str(), accessors, "a mesh");
      round_attribute(arrays, entry.key(), *accessor, step);
      if (entry.key().starts_with("WEIGHTS_")) sets.push_back(*accessor);
    }
    for (const GltfJson& target : json_array(primitive, "targets"))
      for (auto entry = target.begin(); entry != target.end(); ++entry)
        round_attribute(arrays, entry.key(), *json_index(target, entry.key().c_str(), accessors, "a mesh"), step);
    if (!sets.empty()) round_weights(arrays, sets, weights_done);
  }
}

void round_animation(FloatArrays& arrays, const GltfJson& animation) {
  const GltfJson& samplers = json_array(animation, "samplers");
  for (const GltfJson& channel : json_array(animation, "channels")) {
    const auto sampler = json_index(channel, "sampler", samplers.size(), "a channel");
    if (!sampler) continue;
    const auto output = json_index(samplers[*sampler], "output", accessor_count(arrays.content()), "a sampler");
    if (!output) continue;
    const std::string path = json_string(json_object(channel, "target", "a channel"), "path");
    if (path == "rotation" || path == "scale" || path == "weights") arrays.round(*output, turn_step);
    if (path != "translation") continue;
    const double most = arrays.largest(*output);
    if (most > 0) arrays.round(*output, power_of_two_below(most * travel_share));
  }
}

}  // namespace

Status round_numbers(GltfDocument& document) {
  GltfContent& content = document.content();
  return gltf_guarded(content.name, [&]() -> Status {
    FloatArrays arrays(content);
    std::set<std::size_t> weights_done;
    const GltfJson meshes = json_array(content.root, "meshes"), animations = json_array(content.root, "animations");
    for (const GltfJson& mesh : meshes) round_mesh(arrays, mesh, weights_done);
    for (const GltfJson& animation : animations) round_animation(arrays, animation);
    return {};
  });
}

}  // namespace supple
