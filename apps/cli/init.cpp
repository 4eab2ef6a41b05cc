// SPDX-License-Identifier: Apache-2.0
// supple init: looks at a character and writes the recipe it would follow, with a comment for each choice.
#include "character_recipe.h"
#include "command.h"
#include "plant_report.h"
#include "supple/io/file.h"
#include "supple/pipeline/plant/plant_recipe.h"

#include <filesystem>
#include <memory>

namespace supple::init_verb {
namespace {

struct Options {
  std::string input;
  std::string output;
  int tets = TetMeshingOptions{}.tets;
};

/// How the recipe in `folder` names the input.
std::string relative_name(const std::filesystem::path& input, const std::filesystem::path& folder) {
  std::error_code failed;
  const std::filesystem::path relative =
      std::filesystem::relative(input, folder.empty() ? std::filesystem::path(".") : folder, failed);
  return failed || relative.empty() ? std::filesystem::absolute(input).string() : relative.generic_string();
}

Status init(const Options& options, Session& session) {
  const std::filesystem::path input = options.input;
  std::filesystem::path output = options.output;
  if (output.empty()) output = std::filesystem::path(input).replace_extension(".toml");
  if (std::filesystem::exists(output) && !session.force)
    return usage_error(
        fmt::format("{} exists already; name another file with -o, or --force to replace it", output.string()));
  SUPPLE_RETURN_IF_ERROR(check_output(session, output.string(), {options.input}));
  if (is_plant(input)) return init_plant(options.input, relative_name(input, output.parent_path()), output, session);
  session.progress.stage("reading");
  const Result<CharacterFile> file = read_character_file(input);
  if (!file.ok()) return about(options.input, file.error());
  Result<RecipeProposal> proposal = propose_recipe(*file, relative_name(input, output.parent_path()), options.tets);
  if (!proposal.ok()) return about(options.input, proposal.error());
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(output, write_recipe(proposal->recipe, proposal->notes)));
  session.warnings = file->character.warnings;
  for (const std::string& line : proposal->summary) session.line("{}", line);
  session.line("written       {}: read it, change what you like", output.string());
  session.result = proposal->json;
  session.result["recipe"] = output.string();
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Looks at a character and writes a recipe: every choice that makes it a soft body, each with a comment that\n"
      "says what it does and what was found. docs/recipe.md explains all keys; docs/plants.md those of static models\n"
      "that move in the wind.\n",
      "  supple init hero.glb\n"
      "  supple init hero.glb -o soft/hero.toml --tets 30000\n");
  const auto options = std::make_shared<Options>();
  app.add_option("HERO", options->input, "A character: .glb or .gltf")->required()->type_name("");
  app.add_option("-o,--output", options->output, "The recipe; otherwise beside the character")->type_name("TOML");
  app.add_option("--tets", options->tets, "About how many tetrahedra")
      ->check(between(TetMeshingOptions::min_tets, TetMeshingOptions::max_tets))
      ->type_name("N")
      ->capture_default_str();
  return [options](Session& session) { return init(*options, session); };
}

const RegisteredCommand registered{9, "init", "Write a recipe for a character, to look through and change.", add};

}  // namespace
}  // namespace supple::init_verb
