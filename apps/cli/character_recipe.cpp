// SPDX-License-Identifier: Apache-2.0
#include "character_recipe.h"

#include "supple/mesh/bounds.h"
#include "supple/offline/fitting/bones.h"
#include "supple/pipeline/character/corrections.h"

#include <algorithm>

namespace supple {
namespace {

/// "one, two, three and 5 more"
std::string some_of(const std::vector<std::string>& names, std::size_t most = 8) {
  const std::size_t shown = std::min(names.size(), most);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

struct Found {
  std::vector<std::string> meshes, hard, clips, joints, attributes, poses;
  double size = 0;
};

std::vector<std::string> attribute_names(const RawCharacter& character) {
  std::vector<std::string> names;
  for (const CharacterMesh& mesh : character.meshes) {
    for (const VertexAttribute& attribute : mesh.surface.attributes)
      if (std::find(names.begin(), names.end(), attribute.name) == names.end()) names.push_back(attribute.name);
  }
  return names;
}

/// "eyes (all)", "body (12 %)": how much of each mesh comes out hard.
Result<std::vector<std::string>> hard_parts(const RawCharacter& character, const CharacterRig& rig) {
  const Result<std::vector<char>> hard = hard_vertices(character, rig, {});
  SUPPLE_RETURN_IF_ERROR(hard);
  std::vector<std::string> parts;
  for (std::size_t m = 0; m < character.meshes.size(); ++m) {
    const auto first = hard->begin() + rig.first_vertex()[m], last = hard->begin() + rig.first_vertex()[m + 1];
    const auto count = std::count(first, last, char{1});
    if (count == 0) continue;
    const double percent = 100 * static_cast<double>(count) / static_cast<double>(last - first);
    parts.push_back(count == last - first
                        ? fmt::format("{} (all of it)", character.meshes[m].name)
                        : fmt::format("{} ({:.1f} % of its vertices)", character.meshes[m].name, percent));
  }
  return parts;
}

Result<Found> look_at(const CharacterFile& file) {
  const RawCharacter& character = file.character;
  const Result<CharacterRig> rig = CharacterRig::create(character);
  SUPPLE_RETURN_IF_ERROR(rig);
  Found found;
  for (const CharacterMesh& mesh : character.meshes)
    found.meshes.push_back(
        fmt::format("{} ({})", mesh.name, counted(mesh.surface.vertices.size(), "vertex", "vertices")));
  for (const Clip& clip : character.clips)
    found.clips.push_back(fmt::format("{} ({:.2f} s)", clip.name, clip.duration));
  for (const ExamplePose& pose : file.poses) found.poses.push_back(pose.name);
  found.joints = skinned_joints(character);
  found.attributes = attribute_names(character);
  Result<std::vector<std::string>> hard = hard_parts(character, *rig);
  SUPPLE_RETURN_IF_ERROR(hard);
  found.hard = std::move(*hard);
  const std::vector<Vec3> skin = evaluate_all(*rig->rig(), rig->rig()->layout().neutral);
  found.size = bounds_of(skin).size().maxCoeff();
  return found;
}

RecipeNotes remarks(const Recipe& recipe, const Found& found) {
  RecipeNotes notes;
  notes["scale"] = fmt::format("So the character is {:.3g} m large.", found.size);
  if (found.size < 0.02 || found.size > 12) notes["scale"] += " If it isn't meant to be, change this.";
  if (!found.clips.empty()) notes["clips"] = fmt::format("Found: {}.", some_of(found.clips));
  notes["body.exclude"] = fmt::format("Meshes: {}.", some_of(found.meshes));
  notes["bones.soft"] = fmt::format("Joints with skin: {}.", some_of(found.joints, 12));
  notes["bones.find_hard_parts"] =
      found.hard.empty() ? "Nothing of the kind was found." : fmt::format("Found: {}.", some_of(found.hard));
  if (recipe.rigid && !recipe.rigid->empty())
    notes["bones.rigid"] =
        "A skull: a face that sways would leave its eyes and teeth behind. What hangs on joints of its\n"
        "own, such as ears, stays soft.";
  notes["paint"] =
      "To make parts softer, firmer, heavier or fixed, paint them: vertex colours or other attributes, or a text "
      "file.\n" +
      (found.attributes.empty() ? std::string("The meshes have no attributes to paint with; export vertex colours.")
                                : fmt::format("The meshes have: {}.", some_of(found.attributes))) +
      fmt::format("\n[[paint]]\nquantity = \"softness\"\nattribute = \"{}\"\nrange = [1, 5]",
                  found.attributes.empty() ? "color" : found.attributes[0]);
  return notes;
}

}  // namespace

Result<RecipeProposal> propose_recipe(const CharacterFile& file, const std::string& input, int tets) {
  const Result<Found> found = look_at(file);
  SUPPLE_RETURN_IF_ERROR(found);
  RecipeProposal proposal;
  proposal.recipe = first_recipe(file, input, tets);
  proposal.notes = remarks(proposal.recipe, *found);
  std::vector<std::string> told, corrections;
  std::vector<RecipeCorrection> corrected = recognise_corrections(file.character, file.poses, told);
  for (const RecipeCorrection& correction : corrected) corrections.push_back(correction.target);
  if (!corrected.empty()) proposal.recipe.corrections = std::move(corrected);
  const auto row = [&](std::string_view name, const std::vector<std::string>& things) {
    proposal.summary.push_back(fmt::format("{:<14}{}", name, things.empty() ? "none" : some_of(things)));
  };
  row("meshes", found->meshes);
  row("clips", found->clips);
  row("hard parts", found->hard);
  row("poses", found->poses);
  if (!corrections.empty()) row("corrections", corrections);
  for (const std::string& remark : told) proposal.summary.push_back(fmt::format("{:<14}{}", "remark", remark));
  proposal.summary.push_back(
      fmt::format("{:<14}{:.3g} m large, {} flesh", "body", found->size, to_string(proposal.recipe.flesh.feel)));
  proposal.json = {{"tets", tets},
                   {"rigid", proposal.recipe.rigid.value_or(std::vector<std::string>{})},
                   {"size", found->size},
                   {"joints", found->joints.size()},
                   {"meshes", found->meshes},
                   {"clips", found->clips},
                   {"hard_parts", found->hard},
                   {"poses", found->poses},
                   {"corrections", corrections},
                   {"attributes", found->attributes}};
  return proposal;
}

}  // namespace supple
