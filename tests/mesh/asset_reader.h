// SPDX-License-Identifier: Apache-2.0
// Just enough of OBJ, OFF and veg to measure known assets without trusting the library's own readers.
#pragma once

#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace supple::test {

inline std::filesystem::path asset(const std::string& name) {
  return std::filesystem::path(SUPPLE_SHARED_DIR) / "assets" / name;
}

inline void add_polygon(Surface& surface, const std::vector<Index>& polygon) {
  for (std::size_t k = 2; k < polygon.size(); ++k)
    surface.triangles.push_back({polygon[0], polygon[k - 1], polygon[k]});
}

inline Surface read_obj(const std::filesystem::path& path) {
  Surface surface;
  std::ifstream file(path);
  for (std::string line, word; std::getline(file, line);) {
    std::istringstream words(line);
    words >> word;
    if (word == "v") {
      Vec3 p;
      words >> p[0] >> p[1] >> p[2];
      surface.vertices.push_back(p);
    } else if (word == "f") {
      std::vector<Index> polygon;
      for (; words >> word;) polygon.push_back(std::stoi(word) - 1);
      add_polygon(surface, polygon);
    }
    word.clear();
  }
  return surface;
}

inline Surface read_off(const std::filesystem::path& path) {
  Surface surface;
  std::ifstream file(path);
  std::string header;
  std::size_t vertices = 0, faces = 0, edges = 0;
  file >> header >> vertices >> faces >> edges;
  for (std::size_t v = 0; v < vertices; ++v) {
    Vec3 p;
    file >> p[0] >> p[1] >> p[2];
    surface.vertices.push_back(p);
  }
  for (std::size_t f = 0, corners = 0; f < faces; ++f) {
    file >> corners;
    std::vector<Index> polygon(corners);
    for (Index& v : polygon) file >> v;
    add_polygon(surface, polygon);
  }
  return surface;
}

/// Vertices and elements of a one-based veg file; its materials and sets are skipped.
template <int Nodes>
VolumeMesh<Nodes> read_veg(const std::filesystem::path& path) {
  VolumeMesh<Nodes> mesh;
  std::ifstream file(path);
  std::string section;
  bool counts_seen = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("*")) section = line.substr(0, 5), counts_seen = false;
    if (line.empty() || !std::isdigit(static_cast<unsigned char>(line[0]))) continue;
    if (!std::exchange(counts_seen, true)) continue;  // the first line of numbers says how many follow
    std::istringstream words(line);
    Index number = 0;
    words >> number;
    if (section == "*VERT") {
      Vec3& p = mesh.vertices.emplace_back();
      words >> p[0] >> p[1] >> p[2];
    } else if (section == "*ELEM") {
      for (Index& v : mesh.elements.emplace_back()) words >> v, --v;
    }
  }
  return mesh;
}

}  // namespace supple::test
