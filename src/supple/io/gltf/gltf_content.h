// SPDX-License-Identifier: Apache-2.0
// GltfContent: the JSON and bytes of a GltfDocument, and checked ways to read the JSON. For the sources of this folder:
// it includes the whole JSON library.
//
// Faults are thrown as GltfFault inside this folder, because nearly every line here may meet one; the public functions
// catch them (`gltf_guarded`) and give a Result.
#pragma once

#include "supple/base/types.h"
#include "supple/io/gltf/gltf_document.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <new>
#include <optional>
#include <utility>

namespace supple {

/// JSON that keeps the order of its keys, so that a file is written back as it was read.
using GltfJson = nlohmann::ordered_json;

struct ByteRange {
  std::size_t start = 0;
  std::size_t size = 0;
};

struct GltfContent {
  GltfJson root = {{"asset", {{"version", "2.0"}, {"generator", "Supple"}}}};
  std::string binary;  ///< all of the data: buffer 0
  std::string name;
  ResourceReader read;
  std::vector<std::string> warnings;
  std::vector<std::string> extensions;  ///< that the file used, before its data was decoded
  std::vector<ByteRange> freed;         ///< compressed data in `binary` that has been decoded and serves no more

  void warn(std::string sentence) { warnings.push_back(std::move(sentence)); }
};

/// What is wrong with a file, thrown within this folder. `gltf_guarded` catches it and puts the name of the file in
/// front.
struct GltfFault {
  std::string sentence;
};

template <class... Args>
[[noreturn]] void gltf_fault(fmt::format_string<Args...> format, Args&&... args) {
  throw GltfFault{fmt::format(format, std::forward<Args>(args)...)};
}

/// Runs a function that may throw; gives its Result, or the fault as one.
template <class Function>
auto gltf_guarded(const std::string& name, Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const GltfFault& fault) {
    return input_error(fmt::format("{}: {}", name, fault.sentence));
  } catch (const std::bad_alloc&) {
    return failure(fmt::format("There isn't enough memory for {}.", name));
  } catch (const GltfJson::exception&) {
    return input_error(name + ": the JSON isn't what glTF prescribes; export the file again.");
  }
}

// ---- checked access; `where` names the object in messages, such as "node 3"
// -------------------------------------------

/// Gives the array under the key, or an empty one where there is none.
const GltfJson& json_array(const GltfJson& object, const char* key, std::string_view where = "the file");
/// The object under the key, or an empty one.
const GltfJson& json_object(const GltfJson& object, const char* key, std::string_view where);
std::string json_string(const GltfJson& object, const char* key, const std::string& otherwise = "");
/// Gives a number that must be whole and not negative, or nothing where the key is absent.
std::optional<std::uint64_t> json_count(const GltfJson& object, const char* key, std::string_view where);
std::uint64_t require_count(const GltfJson& object, const char* key, std::string_view where);
/// Gives an index that must be below `size`, or nothing where the key is absent.
std::optional<std::size_t> json_index(const GltfJson& object, const char* key, std::size_t size,
                                      std::string_view where);
std::size_t require_index(const GltfJson& object, const char* key, std::size_t size, std::string_view where);
/// Reads an entry of an array of indices, which must be below `size`.
std::size_t index_value(const GltfJson& value, std::size_t size, std::string_view where);
/// Finite numbers: exactly `size` of them, or none when the key is missing.
std::vector<double> json_numbers(const GltfJson& object, const char* key, std::string_view where,
                                 std::optional<std::size_t> size = std::nullopt);

/// The array under a key of the root, made if it isn't there.
GltfJson& editable_array(GltfContent& content, const char* key);
/// Removes an extension's name from the lists of used and required ones, and the lists when they are empty.
void forget_extension(GltfContent& content, std::string_view extension);
/// Puts it on both lists.
void require_extension(GltfContent& content, const char* extension);
/// Appends bytes at a multiple of four; gives where they start.
std::size_t append_data(GltfContent& content, std::string_view bytes);
/// A view of appended bytes; `target` is glTF's number for vertices (34962) or indices (34963), 0 for neither.
std::size_t append_view(GltfContent& content, std::string_view bytes, int target = 0);

inline constexpr int gltf_vertex_target = 34962, gltf_index_target = 34963;

// ---- the container --------------------------------------------------------------------------------------------------

/// The most bytes that a GLB file can have: its header states the length in 32 bits.
inline constexpr std::size_t largest_glb = 0xffffffff;

/// The bytes of a GLB file: header, JSON chunk padded with blanks and, unless it is empty, binary chunk padded with
/// zeros. The caller sees to it that both fit into largest_glb.
std::string glb_container(std::string_view json, std::string_view binary);

}  // namespace supple
