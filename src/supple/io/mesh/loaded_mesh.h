// SPDX-License-Identifier: Apache-2.0
// LoadedMesh: what every reader gives, and the last touches that all readers share. SaveOptions: what writers are told
// where their format leaves a choice.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace supple {

struct LoadedMesh {
  std::variant<Surface, TetMesh, HexMesh> mesh;
  std::string format;                 ///< such as "Vega", "Gmsh 4.1 binary", "OBJ"
  std::vector<std::string> warnings;  ///< each a sentence: what was repaired or left out
};

enum class GmshVersion { v2_2, v4_1 };
enum class Encoding { ascii, binary };

struct SaveOptions {
  GmshVersion gmsh_version = GmshVersion::v4_1;
  Encoding encoding = Encoding::binary;  ///< for .msh, .stl and .ply; the other formats are always text
};

/// Turns elements of negative volume around and counts those without volume; warns about both.
template <int Nodes>
void orient_elements(VolumeMesh<Nodes>& mesh, std::vector<std::string>& warnings);

/// Wraps an oriented mesh. Refuses one without elements: "NAME holds 12 vertices but no elements…".
Result<LoadedMesh> finish_mesh(TetMesh mesh, const std::string& name, std::string format,
                               std::vector<std::string> warnings = {});
Result<LoadedMesh> finish_mesh(HexMesh mesh, const std::string& name, std::string format,
                               std::vector<std::string> warnings = {});
Result<LoadedMesh> finish_mesh(Surface surface, const std::string& name, std::string format,
                               std::vector<std::string> warnings = {});

/// Appends a polygon as a fan of triangles around its first corner. Fewer than three corners add nothing.
void append_polygon(Surface& surface, std::span<const Index> corners);

/// The next triangle begins a part of this name, unless the open part already has it. Parts that stay empty vanish.
void begin_part(Surface& surface, std::string_view name);
/// Closes the last part; gives triangles before the first part a nameless one.
void finish_parts(Surface& surface);

/// Element sets from one integer per element, such as a reference or region number: one set per distinct value in
/// ascending order, named PREFIX + value; none at all when every element has the same value.
std::vector<ElementSet> sets_from_labels(std::span<const std::int64_t> labels, std::string_view prefix);

/// One integer per element from the sets, for formats that hold only that: k + 1 for the first set k that holds the
/// element, 0 outside all of them.
std::vector<Index> labels_from_sets(std::span<const ElementSet> sets, std::size_t element_count);

/// Name of the vertex colours in Surface::attributes: 3 or 4 components from 0 to 1.
inline constexpr std::string_view colour_attribute = "color";
const VertexAttribute* find_colours(const Surface& surface);
/// A number of a file as a colour: finite and not negative, whatever the file says; bytes and brighter than 1 pass.
float colour_value(double value);

}  // namespace supple
