// SPDX-License-Identifier: Apache-2.0
// CalculiX (the program ccx) as a second opinion: writes its input decks from our meshes, runs it in a folder of its
// own, and reads its tables.
#pragma once

#include "supple/mesh/volume_mesh.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
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
    const std::string table = run(model(mesh, fixed) + fmt::format("*STEP\n*FREQUENCY\n{}\n*END STEP\n", count));
    return parse_frequencies(table, count);
  }

  /// Displacement of one vertex under nodal forces (a stacked vector), geometrically nonlinear, linear elastic law
  /// between Green's strain and the second Piola stress.
  template <int Nodes>
  Vec3 static_displacement(const VolumeMesh<Nodes>& mesh, std::span<const Index> fixed, const VecX& load,
                           Index vertex) const {
    std::string deck = model(mesh, fixed);
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
  template <int Nodes>
  static std::string model(const VolumeMesh<Nodes>& mesh, std::span<const Index> fixed) {
    std::string deck = "*NODE,NSET=NALL\n";
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      const Vec3& x = mesh.vertices[v];
      deck += fmt::format("{},{:.12e},{:.12e},{:.12e}\n", v + 1, x[0], x[1], x[2]);
    }
    const std::size_t material_count = std::max<std::size_t>(1, mesh.materials.size());
    for (std::size_t m = 0; m < material_count; ++m) deck += elements(mesh, m);
    deck += "*BOUNDARY\n";
    for (const Index v : fixed) deck += fmt::format("{},1,3\n", v + 1);
    return deck;
  }

  /// The elements of one material, as a set with its section; nothing when there are none.
  template <int Nodes>
  static std::string elements(const VolumeMesh<Nodes>& mesh, std::size_t material) {
    std::string lines;
    const ElasticMaterial* used = nullptr;
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      const std::size_t of_element =
          mesh.element_material.empty() ? 0 : static_cast<std::size_t>(mesh.element_material[e]);
      if (of_element != material) continue;
      used = &mesh.material_of(e);
      lines += fmt::format("{}", e + 1);
      for (const Index v : mesh.elements[e]) lines += fmt::format(",{}", v + 1);
      lines += '\n';
    }
    if (used == nullptr) return {};
    return fmt::format(
        "*ELEMENT,TYPE={0},ELSET=SET{1}\n{2}*MATERIAL,NAME=MAT{1}\n*ELASTIC\n{3:.12e},{4:.12e}\n"
        "*DENSITY\n{5:.12e}\n*SOLID SECTION,ELSET=SET{1},MATERIAL=MAT{1}\n",
        Nodes == 4 ? "C3D4" : "C3D8", material, lines, used->young, used->poisson, used->density);
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
