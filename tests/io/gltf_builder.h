// SPDX-License-Identifier: Apache-2.0
// GltfBuilder: glTF files put together by hand, independently of the library's writer.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace supple::test {

using Json = nlohmann::ordered_json;

class GltfBuilder {
 public:
  Json root = Json::parse(R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{}]})");
  std::string binary;

  template <class T>
  std::size_t view(const std::vector<T>& values) {
    binary.append((4 - binary.size() % 4) % 4, '\0');
    root["bufferViews"].push_back(
        {{"buffer", 0}, {"byteOffset", binary.size()}, {"byteLength", values.size() * sizeof(T)}});
    binary.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return root["bufferViews"].size() - 1;
  }
  std::size_t accessor(Json json) {
    root["accessors"].push_back(std::move(json));
    return root["accessors"].size() - 1;
  }
  template <class T>
  std::size_t array(const std::vector<T>& values, const std::string& type, int component, std::size_t width,
                    bool normalized = false) {
    Json json = {
        {"bufferView", view(values)}, {"componentType", component}, {"count", values.size() / width}, {"type", type}};
    if (normalized) json["normalized"] = true;
    return accessor(std::move(json));
  }
  std::size_t floats(const std::vector<float>& values, const std::string& type, std::size_t width) {
    return array(values, type, 5126, width);
  }
  std::size_t vectors(const std::vector<float>& values) { return floats(values, "VEC3", 3); }
  std::size_t indices(const std::vector<std::uint16_t>& values) { return array(values, "SCALAR", 5123, 1); }

  /// One mesh of one primitive on node 0, without indices.
  Json& primitive(const std::vector<float>& positions) {
    root["meshes"] =
        Json::array({{{"primitives", Json::array({{{"attributes", {{"POSITION", vectors(positions)}}}}})}}});
    root["nodes"][0]["mesh"] = 0;
    return root["meshes"][0]["primitives"][0];
  }
  Json& attributes() { return root["meshes"][0]["primitives"][0]["attributes"]; }

  /// A triangle on node 0 whose vertices hang on the joints 1 and 2, nodes of those numbers.
  static GltfBuilder skinned_triangle() {
    GltfBuilder b;
    b.root["nodes"] = Json::parse(R"([{"name": "body", "skin": 0}, {"name": "hip", "children": [2]},
                                      {"name": "knee", "translation": [0, 1, 0]}])");
    b.root["scenes"][0]["nodes"] = {0, 1};
    b.root["skins"] = Json::parse(R"([{"joints": [1, 2]}])");
    b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
    b.attributes()["JOINTS_0"] =
        b.array(std::vector<std::uint8_t>{0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, "VEC4", 5121, 4);
    b.attributes()["WEIGHTS_0"] = b.floats({1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 1, 0, 0, 0}, "VEC4", 4);
    return b;
  }

  std::string json_text() const {
    Json copy = root;
    if (!binary.empty()) copy["buffers"] = Json::array({{{"byteLength", binary.size()}}});
    return copy.dump();
  }
  std::string glb() const {
    std::string json = json_text(), data = binary;
    json.append((4 - json.size() % 4) % 4, ' ');
    data.append((4 - data.size() % 4) % 4, '\0');
    std::string file = "glTF";
    const auto number = [&](std::size_t n) {
      const auto value = static_cast<std::uint32_t>(n);
      file.append(reinterpret_cast<const char*>(&value), 4);
    };
    number(2);
    number(12 + 8 + json.size() + (data.empty() ? 0 : 8 + data.size()));
    number(json.size());
    file += "JSON" + json;
    if (data.empty()) return file;
    number(data.size());
    file += std::string("BIN\0", 4) + data;
    return file;
  }
};

}  // namespace supple::test
