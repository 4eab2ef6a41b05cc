// SPDX-License-Identifier: Apache-2.0
// Accessors: typed arrays within the binary data. All of glTF's kinds are decoded: interleaved, normalised integers,
// matrices with padded columns, sparse replacements, and accessors without data, which mean zeros.
//   normalised integers: unsigned c / (2^n − 1), signed max(c / (2^(n−1) − 1), −1)
#pragma once

#include "supple/base/types.h"
#include "supple/io/gltf/gltf_content.h"

#include <span>

namespace supple {

/// glTF's numbers for the types of components.
enum class ComponentType {
  signed_byte = 5120,
  unsigned_byte = 5121,
  signed_short = 5122,
  unsigned_short = 5123,
  unsigned_int = 5125,
  single = 5126,
};
std::size_t component_size(ComponentType type);

struct AccessorShape {
  ComponentType type = ComponentType::single;
  bool normalized = false;
  std::size_t count = 0;
  std::size_t rows = 1, columns = 1;  ///< columns > 1 for matrices

  std::size_t width() const { return rows * columns; }
  std::size_t column_bytes() const;   ///< columns of matrices start at multiples of four
  std::size_t element_bytes() const;  ///< when elements follow each other without a gap
};

std::size_t accessor_count(const GltfContent& content);
/// Reads what the JSON says of an accessor, and throws a GltfFault where that isn't glTF.
AccessorShape accessor_shape(const GltfContent& content, std::size_t accessor);
/// The accessor, and its sparse part, lie within their views.
void check_accessor(const GltfContent& content, std::size_t accessor);

/// All components, element after element, columns of matrices one after the other. Checked accessors don't fault.
std::vector<double> accessor_numbers(const GltfContent& content, std::size_t accessor);
/// Reads an accessor of integers, without normalisation; one of floats is a fault.
std::vector<std::uint32_t> accessor_integers(const GltfContent& content, std::size_t accessor);

/// An accessor over newly appended data. `with_range` states the smallest and largest values, as positions and times
/// need it.
struct NewAccessor {
  const char* type = "SCALAR";
  int target = 0;
  bool with_range = false;
};
std::size_t append_floats(GltfContent& content, const std::vector<float>& values, const NewAccessor& how);
/// x y z of each vector. What isn't finite is a fault of `whose`, such as "the character's positions".
std::vector<float> flat_floats(std::span<const Vec3> vectors, std::string_view whose);
/// How vectors of a morph target are stored: only those that aren't zero, where that is smaller, and as whole numbers
/// of a few bytes (KHR_mesh_quantization), where they are no longer than one and the steps are fine enough.
struct PackedVectors {
  std::size_t bytes = 4;  ///< of a component: 4 (floats), 2 or 1
  bool with_range = false;
  bool normalized = true;  ///< the largest whole number means one, not itself
};
std::size_t append_packed(GltfContent& content, std::span<const Vec3> vectors, const PackedVectors& how,
                          std::string_view whose);
/// Makes "min" and "max" of an accessor what its values are, without normalisation; false when they were already.
bool restate_range(GltfContent& content, std::size_t accessor);

}  // namespace supple
