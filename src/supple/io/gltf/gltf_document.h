// SPDX-License-Identifier: Apache-2.0
// GltfDocument: a whole glTF 2.0 file in memory, as an editor holds it: the JSON as it stands, and all binary data in
// one buffer. We read what we need from it (read_character.h), change what is ours (gltf_editor.h), and write back the
// rest untouched: materials, textures, cameras, extras, extensions, things nobody has heard of.
//
// Loading makes the document plain: buffers are merged into one; data compressed by Draco or meshoptimizer is decoded,
// because morph targets added later could not refer to it otherwise. All indices, sizes and the tree of nodes are
// checked once, here, so that later readers find what they are pointed to.
//
// Why not tinygltf, a library for this: version 2.7 parses into structs of its own and drops what it doesn't know
// (measured: unknown properties, asset.minVersion), and writes a camera's missing zfar as 0, which is not legal.
#pragma once

#include "supple/base/result.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

/// The bytes of a file that the document names, by a path relative to the document.
using ResourceReader = std::function<Result<std::string>(const std::string& relative_path)>;

struct GltfContent;  // gltf_content.h: JSON and bytes, for the few files that work on them

class GltfDocument {
 public:
  GltfDocument();
  explicit GltfDocument(GltfContent content);
  GltfDocument(const GltfDocument& other);
  GltfDocument(GltfDocument&& other) noexcept;
  GltfDocument& operator=(GltfDocument other) noexcept;
  ~GltfDocument();

  const std::string& name() const;                   ///< of the file, for messages
  const std::vector<std::string>& warnings() const;  ///< each a sentence: what was repaired or left out
  GltfContent& content() { return *content_; }
  const GltfContent& content() const { return *content_; }

 private:
  std::unique_ptr<GltfContent> content_;  // never null, except after a move
};

/// Reads .glb or .gltf, whichever it is, with its buffers. Buffers and images that lie outside the file's folder or on
/// the network are not fetched.
Result<GltfDocument> load_gltf(const std::filesystem::path& path);
Result<GltfDocument> parse_gltf(std::string_view bytes, const std::string& name, ResourceReader read);

/// Whether a file is written so that every player reads it, or compressed by meshoptimizer (EXT_meshopt_compression,
/// which the file then requires).
enum class GltfPacking { none, meshopt };

/// Writes one self-contained file, all or nothing: GLB, or JSON with the data inside when the path ends in .gltf.
/// Images of other files are taken in first; those that can't be read stay references, with a warning.
Status save_gltf(GltfDocument& document, const std::filesystem::path& path, GltfPacking packing = GltfPacking::none);
void embed_images(GltfDocument& document);
std::string encode_glb(const GltfDocument& document, GltfPacking packing = GltfPacking::none);
std::string encode_gltf(const GltfDocument& document, GltfPacking packing = GltfPacking::none);

/// What a file holds besides the character, as reports show it to people.
struct GltfSummary {
  std::string generator;
  std::size_t nodes = 0, meshes = 0, primitives = 0, materials = 0, textures = 0, images = 0, cameras = 0;
  std::size_t skins = 0, animations = 0;
  std::size_t vertices = 0, triangles = 0;  ///< of all triangle primitives, each once
  std::vector<std::string> extensions;      ///< as the file had them
};
GltfSummary summarize(const GltfDocument& document);

}  // namespace supple
