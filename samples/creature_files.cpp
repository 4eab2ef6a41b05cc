// SPDX-License-Identifier: Apache-2.0
#include "samples/creature_files.h"

#include "supple/io/gltf/write_character.h"

namespace supple {
namespace {

CharacterLook look_of(const Creature& creature) {
  CharacterLook look;
  look.materials = {{Color::Ones(), 0.72, 0.0, false}, {Color::Ones(), 0.22, 0.0, false}};  // skin; eyes and claws
  for (const CreaturePose& pose : creature.poses) look.poses.push_back(pose.pose);
  return look;
}

}  // namespace

Status write_creature(const std::filesystem::path& file, const Creature& creature, const RawCharacter& character) {
  return write_character(file, character, look_of(creature));
}

void add_creature_choices(const Creature& creature, const RawCharacter& character, Recipe& recipe) {
  // Eyes, noses and claws are small and hard: they follow the joints, and the flesh needs no cells for them.
  for (const CharacterMesh& mesh : character.meshes)
    if (mesh.name == details_name(creature)) recipe.exclude.push_back(mesh.name);
  for (const CreatureWire& wire : creature.wires) recipe.wires.push_back({wire.name, wire.handles});
  for (const CreaturePatch& patch : creature.patches)
    recipe.locals.push_back({patch.name, patch.joints, {}, {}, patch.modes});
  recipe.flesh.local = !recipe.locals.empty();
  recipe.material.frequency = creature.frequency;
  if (!recipe.rigid) recipe.rigid.emplace();  // cheeks are part of the show
}

}  // namespace supple
