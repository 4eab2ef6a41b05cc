// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/fingerprint.h"

#include <fmt/format.h>

namespace supple {
namespace {

/// Single precision: what files hold.
template <class Values>
void add_rounded(ContentHash& hash, const Values& values) {
  for (const double value : values) hash.add(static_cast<float>(value));
}

std::string skeleton_hash(const Skeleton& skeleton) {
  ContentHash hash;
  for (const Joint& joint : skeleton.joints) {
    hash.add(std::string_view(joint.name)).add(joint.parent);
    add_rounded(hash, joint.rest.translation);
    add_rounded(hash, joint.rest.rotation.coeffs());
    add_rounded(hash, joint.rest.scale);
    if (joint.matrix) add_rounded(hash, joint.matrix->matrix().reshaped());
  }
  return hash.text();
}

std::string bind_hash(const RawCharacter& character) {
  ContentHash hash;
  for (const Skin& skin : character.skins) {
    hash.add(skin.joints);
    for (const Affine& bind : skin.inverse_bind) add_rounded(hash, bind.matrix().reshaped());
  }
  return hash.text();
}

template <class AddMesh>
std::string mesh_hash(const RawCharacter& character, AddMesh&& add) {
  ContentHash hash;
  for (const CharacterMesh& mesh : character.meshes) {
    hash.add(mesh.node).add(mesh.skin);
    add(hash, mesh);
  }
  return hash.text();
}

void add_skeleton(ContentHash& content, const Skeleton& skeleton) {
  for (const Joint& joint : skeleton.joints) {
    content.add(std::string_view(joint.name)).add(joint.parent).add(joint.matrix.has_value());
    add_content(content, joint.rest);
    if (joint.matrix) content.add(MatX(joint.matrix->matrix()));
  }
}

}  // namespace

MadeFor fingerprint_of(const CharacterSource& source) {
  const RawCharacter& character = source.character;
  MadeFor made_for;
  made_for.hashes = {
      skeleton_hash(character.skeleton), bind_hash(character),
      mesh_hash(character,
                [](ContentHash& hash, const CharacterMesh& mesh) {
                  hash.add(mesh.weights.first).add(mesh.weights.joint);
                  add_rounded(hash, mesh.weights.weight);
                }),
      mesh_hash(character,
                [](ContentHash& hash, const CharacterMesh& mesh) {
                  for (const Vec3& x : mesh.surface.vertices) add_rounded(hash, x);
                }),
      mesh_hash(character, [](ContentHash& hash, const CharacterMesh& mesh) { hash.add(mesh.surface.triangles); })};
  return made_for;
}

Status check_made_for(const MadeFor& asset, const CharacterSource& source) {
  if (!asset.known()) return {};
  const MadeFor own = fingerprint_of(source);
  std::vector<std::string_view> differing;
  for (std::size_t k = 0; k < MadeFor::names.size(); ++k)
    if (asset.hashes[k] != own.hashes[k]) differing.push_back(MadeFor::names[k]);
  if (differing.empty()) return {};
  return input_error(fmt::format("the asset was built for another character: {} {}; build it again",
                                 fmt::join(differing, ", "), differing.size() == 1 ? "differs" : "differ"));
}

void add_content(ContentHash& content, const Transform& t) {
  for (const double value : t.translation) content.add(value);
  for (const double value : t.rotation.coeffs()) content.add(value);
  for (const double value : t.scale) content.add(value);
}

void add_content(ContentHash& content, const Clip& clip) {
  content.add(std::string_view(clip.name)).add(clip.duration).add(clip.channels.size());
  for (const Channel& channel : clip.channels) {
    content.add(channel.joint).add(channel.target).add(channel.interpolation).add(channel.width);
    content.add(channel.times).add(channel.values);
  }
}

void add_content(ContentHash& content, const RawCharacter& character) {
  add_skeleton(content, character.skeleton);
  content.add(character.clips.size());
  for (const Clip& clip : character.clips) add_content(content, clip);
  content.add(character.skins.size());
  for (const Skin& skin : character.skins) content.add(skin.joints);
  for (const CharacterMesh& mesh : character.meshes) {
    content.add(std::string_view(mesh.name)).add(mesh.node).add(mesh.skin);
    content.add(mesh.weights.first).add(mesh.weights.joint).add(mesh.weights.weight);
  }
}

}  // namespace supple
