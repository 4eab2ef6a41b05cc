// SPDX-License-Identifier: Apache-2.0
// supple example: the example characters as ordinary files, to try everything else on.
#include "character_recipe.h"
#include "command.h"
#include "samples/creature_files.h"
#include "samples/plants.h"
#include "supple/base/nearest_name.h"
#include "supple/io/file.h"

#include <filesystem>
#include <fstream>
#include <memory>

namespace supple::example_verb {
namespace {

struct Options {
  std::string name;
  std::string folder = ".";
};

void list_examples(Session& session) {
  session.line("supple example NAME -o DIR writes NAME.glb and its recipe NAME.toml. The names:");
  for (const CreatureExample& example : creature_examples()) {
    session.line("  {:<10}{}", example.name, example.brief);
    session.result["examples"].push_back({{"name", example.name}, {"brief", example.brief}});
  }
  for (const samples::PlantExample& example : samples::plant_examples()) {
    session.line("  {:<10}{}", example.name, example.brief);
    session.result["examples"].push_back({{"name", example.name}, {"brief", example.brief}});
  }
}

Error unknown_example(const std::string& name) {
  std::vector<std::string_view> names;
  for (const CreatureExample& example : creature_examples()) names.push_back(example.name);
  for (const samples::PlantExample& example : samples::plant_examples()) names.push_back(example.name);
  const std::string_view near = nearest_name(name, names);
  return usage_error(fmt::format(
      "there is no example \"{}\"; {}", name,
      near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", near)));
}

/// From the file, so that it names what a reader of the file finds.
Status write_recipe_of(const CreatureExample& example, const Creature& creature, const std::filesystem::path& model,
                       const std::filesystem::path& recipe) {
  const Result<CharacterFile> file = read_character_file(model);
  SUPPLE_RETURN_IF_ERROR(file);
  Result<RecipeProposal> proposal = propose_recipe(*file, model.filename().string(), example.tets);
  SUPPLE_RETURN_IF_ERROR(proposal);
  add_creature_choices(creature, file->character, proposal->recipe);
  proposal->notes[""] = std::string(example.brief) + ".";
  return write_file_atomically(recipe, write_recipe(proposal->recipe, proposal->notes));
}

/// Somebody may have worked on what an earlier run wrote: only the very same file is replaced without --force.
Status check_unchanged(const std::filesystem::path& file, const Session& session) {
  const std::filesystem::path* made = session.files.pending(file);
  if (session.force || made == nullptr || !std::filesystem::exists(file)) return {};
  std::ifstream before(file, std::ios::binary), now(*made, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  if (std::equal(Bytes(before), Bytes(), Bytes(now), Bytes())) return {};
  return usage_error(fmt::format("{} exists already and differs; name another folder with -o, or --force to replace it",
                                 file.string()));
}

Status write_plant_example(const Options& options, const samples::PlantExample& example, Session& session) {
  const std::filesystem::path folder = options.folder, model = folder / (options.name + ".glb");
  SUPPLE_RETURN_IF_ERROR(session.files.make_folder(folder));
  SUPPLE_RETURN_IF_ERROR(samples::write_plant(model, example.make()));
  SUPPLE_RETURN_IF_ERROR(check_unchanged(model, session));
  session.line("{}: {}", example.name, example.brief);
  session.line("written       {}", model.string());
  session.line("next          supple bake {} -o {}", model.string(), (folder / (options.name + "_wind.glb")).string());
  session.result["model"] = model.string();
  return {};
}

Status write_example(const Options& options, Session& session) {
  if (options.name.empty()) {
    list_examples(session);
    return {};
  }
  if (const samples::PlantExample* plant = samples::find_plant_example(options.name))
    return write_plant_example(options, *plant, session);
  const CreatureExample* example = find_creature_example(options.name);
  if (example == nullptr) return unknown_example(options.name);
  const std::filesystem::path folder = options.folder;
  SUPPLE_RETURN_IF_ERROR(session.files.make_folder(folder));
  const Creature creature = example->make();
  const RawCharacter character = make_character(creature, example->vertices);
  const std::filesystem::path model = folder / (options.name + ".glb"), recipe = folder / (options.name + ".toml");
  SUPPLE_RETURN_IF_ERROR(write_creature(model, creature, character));
  SUPPLE_RETURN_IF_ERROR(write_recipe_of(*example, creature, model, recipe));
  for (const std::filesystem::path& file : {model, recipe}) SUPPLE_RETURN_IF_ERROR(check_unchanged(file, session));
  std::size_t vertices = 0, corrections = 0;
  for (const CharacterMesh& mesh : character.meshes) {
    vertices += mesh.surface.vertices.size();
    corrections += mesh.targets.size();
  }
  session.line("{}: {}", example->name, example->brief);
  session.line("contains      {} vertices, {} joints, {}, {}", vertices, creature.joints.size(),
               counted(character.clips.size(), "clip", "clips"), counted(corrections, "correction", "corrections"));
  session.line("written       {}, {}", model.string(), recipe.string());
  session.line("next          supple inspect {}, or open it in any glTF viewer", model.string());
  session.result["model"] = model.string();
  session.result["recipe"] = recipe.string();
  session.result["vertices"] = vertices;
  session.result["joints"] = creature.joints.size();
  session.result["clips"] = character.clips.size();
  session.result["corrections"] = corrections;
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Writes an example character: a skinned, animated model (NAME.glb) and the recipe that goes with it\n"
           "(NAME.toml); or an example plant, which needs none. Without a name, lists the examples.\n",
           "  supple example\n"
           "  supple example mascot -o examples\n");
  const auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "Which one")->type_name("");
  app.add_option("-o,--output", options->folder, "Folder to write to")->type_name("DIR")->capture_default_str();
  return [options](Session& session) { return write_example(*options, session); };
}

const RegisteredCommand registered{8, "example", "Write an example character to try things on.", add};

}  // namespace
}  // namespace supple::example_verb
