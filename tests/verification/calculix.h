// SPDX-License-Identifier: Apache-2.0
// CalculiX (the program ccx) as a second opinion: writes its input decks from our meshes, runs it in a folder of its
// own, and reads its tables.
#pragma once

#include "supple/mesh/volume_mesh.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace supple {

class Calculix {
 public:
  static bool installed() { return std::system("command -v ccx > /dev/null 2>&1") == 0; }

  Calculix() : folder_(std::filesystem::temp_directory_path() / fmt::format("supple_ccx_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Calculix() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Calculix(const Calculix&) = delete;
  Calculix& operator=(const Calculix&) = delete;

  /// The first `count` natural frequencies [Hz].
  template <int Nodes>
  std::vector<double> frequencies(const VolumeMesh<Nodes>& mesh, std::span<const Index> fixed, int count) const {
    const std::string step = fmt::format("*STEP\n*FREQUENCY\n{}\n*END STEP\n", count);
    return parse_frequencies(run(model(mesh, fixed, Tets::tied_quadratic) + step), count);
  }

  /// Displacement of one vertex under nodal forces (a stacked vector), geometrically nonlinear, linear elastic law
  /// between Green's strain and the second Piola stress.
  template <int Nodes>
  Vec3 static_displacement(const VolumeMesh<Nodes>& mesh, std::span<const Index> fixed, const VecX& load,
                           Index vertex) const {
    std::string deck = model(mesh, fixed, Tets::linear);
    deck += fmt::format("*NSET,NSET=TIP\n{}\n", vertex + 1);
    // Its default accepts a residual of half a per cent, too coarse for a comparison.
    deck += "*STEP,NLGEOM,INC=500\n*STATIC\n0.1,1.0\n*CONTROLS,PARAMETERS=FIELD\n1.E-7,1.E-7\n*CLOAD\n";
    for (Index v = 0; v < load.size() / 3; ++v) {
      for (int i = 0; i < 3; ++i) {
        if (load[3 * v + i] != 0) deck += fmt::format("{},{},{:.12e}\n", v + 1, i + 1, load[3 * v + i]);
      }
    }
    deck += "*NODE PRINT,NSET=TIP,FREQUENCY=500\nU\n*END STEP\n";
    return parse_last_displacement(run(deck));
  }

 private:
  /// C3D4 integrates its mass at one point (ρV/16 everywhere), which is not the consistent mass. The same linear
  /// tetrahedron with the mass integrated in full is a C3D10 whose midside nodes are tied to the middle of their edges.
  enum class Tets { linear, tied_quadratic };
  /// Numbers of the midside nodes, by the edge's vertices in ascending order.
  using Midsides = std::map<std::pair<Index, Index>, std::size_t>;

  template <int Nodes>
  static std::string model(const VolumeMesh<Nodes>& mesh, std::span<const Index> fixed, Tets tets) {
    std::string deck = "*NODE,NSET=NALL\n";
    std::size_t number = 0;
    const auto add_node = [&](const Vec3& x) {
      deck += fmt::format("{},{:.12e},{:.12e},{:.12e}\n", ++number, x[0], x[1], x[2]);
    };
    for (const Vec3& x : mesh.vertices) add_node(x);
    Midsides midsides;
    if (Nodes == 4 && tets == Tets::tied_quadratic) {
      midsides = midsides_of(mesh);
      for (auto& [edge, node] : midsides) {
        add_node(0.5 * (mesh.vertices[to_size(edge.first)] + mesh.vertices[to_size(edge.second)]));
        node = number;
      }
    }
    const std::size_t material_count = std::max<std::size_t>(1, mesh.materials.size());
    for (std::size_t m = 0; m < material_count; ++m) deck += elements(mesh, m, midsides);
    deck += ties(midsides);
    deck += "*BOUNDARY\n";
    for (const Index v : fixed) deck += fmt::format("{},1,3\n", v + 1);
    return deck;
  }

  /// Corners of the edges in the order of C3D10's nodes 5 to 10.
  static constexpr std::array<std::array<std::size_t, 2>, 6> tet_edges = {
      {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}}};

  template <class Element>
  static std::pair<Index, Index> edge_of(const Element& element, const std::array<std::size_t, 2>& corners) {
    return std::minmax({element[corners[0]], element[corners[1]]});
  }

  template <int Nodes>
  static Midsides midsides_of(const VolumeMesh<Nodes>& mesh) {
    Midsides result;
    for (const auto& element : mesh.elements) {
      for (const auto& corners : tet_edges) result[edge_of(element, corners)] = 0;
    }
    return result;
  }

  /// u_middle = (u_a + u_b) / 2 in each direction.
  static std::string ties(const Midsides& midsides) {
    std::string lines;
    for (const auto& [edge, node] : midsides) {
      for (int axis = 1; axis <= 3; ++axis) {
        lines += fmt::format("*EQUATION\n3\n{0},{1},1.,{2},{1},-0.5,{3},{1},-0.5\n", node, axis, edge.first + 1,
                             edge.second + 1);
      }
    }
    return lines;
  }

  /// The elements of one material, as a set with its section; nothing when there are none.
  template <int Nodes>
  static std::string elements(const VolumeMesh<Nodes>& mesh, std::size_t material, const Midsides& midsides) {
    std::string lines;
    const ElasticMaterial* used = nullptr;
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      const auto of_element = mesh.element_material.empty() ? 0 : to_size(mesh.element_material[e]);
      if (of_element != material) continue;
      used = &mesh.material_of(e);
      lines += fmt::format("{}", e + 1);
      for (const Index v : mesh.elements[e]) lines += fmt::format(",{}", v + 1);
      if (!midsides.empty()) {
        for (const auto& corners : tet_edges)
          lines += fmt::format(",{}", midsides.at(edge_of(mesh.elements[e], corners)));
      }
      lines += '\n';
    }
    if (used == nullptr) return {};
    const std::string_view type = Nodes == 8 ? "C3D8" : midsides.empty() ? "C3D4" : "C3D10";
    return fmt::format(
        "*ELEMENT,TYPE={0},ELSET=SET{1}\n{2}*MATERIAL,NAME=MAT{1}\n*ELASTIC\n{3:.12e},{4:.12e}\n"
        "*DENSITY\n{5:.12e}\n*SOLID SECTION,ELSET=SET{1},MATERIAL=MAT{1}\n",
        type, material, lines, used->young, used->poisson, used->density);
  }

  /// Runs the deck and gives the text of its .dat table.
  std::string run(const std::string& deck) const {
    std::ofstream(folder_ / "job.inp") << deck;
    const std::string command = fmt::format("cd '{}' && OMP_NUM_THREADS=1 ccx -i job > job.log 2>&1", folder_.string());
    if (std::system(command.c_str()) != 0) throw std::runtime_error("ccx failed:\n" + read(folder_ / "job.log"));
    return read(folder_ / "job.dat");
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// Lines of five numbers under "EIGENVALUE OUTPUT": mode, eigenvalue, rad/s, Hz, imaginary part.
  static std::vector<double> parse_frequencies(const std::string& table, int count) {
    std::vector<double> result;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line) && static_cast<int>(result.size()) < count;) {
      std::istringstream words(line);
      double mode = 0, eigenvalue = 0, radians = 0, hertz = 0;
      if (words >> mode >> eigenvalue >> radians >> hertz && mode == static_cast<double>(result.size() + 1))
        result.push_back(hertz);
    }
    if (static_cast<int>(result.size()) < count) throw std::runtime_error("ccx gave no frequencies:\n" + table);
    return result;
  }

  static Vec3 parse_last_displacement(const std::string& table) {
    std::optional<Vec3> result;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      double node = 0;
      Vec3 u;
      if (words >> node >> u[0] >> u[1] >> u[2]) result = u;
    }
    if (!result) throw std::runtime_error("ccx gave no displacement:\n" + table);
    return *result;
  }

  std::filesystem::path folder_;
};

}  // namespace supple
