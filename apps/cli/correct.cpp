// SPDX-License-Identifier: Apache-2.0
// supple correct: example poses get corrective shapes in which skin doesn't enter skin, solved by the quasistatic
// engine.
#include "character_options.h"
#include "command.h"
#include "contact_report.h"
#include "supple/io/file.h"
#include "supple/pipeline/character/resolve_contacts.h"
#include "supple/pipeline/character/resolve_poses.h"

#include <charconv>
#include <cmath>
#include <memory>

namespace supple::correct_verb {
namespace {

struct Options : CharacterOptions {
  std::string input, output;
  std::vector<std::string> moments, motions;
};

/// "CLIP:SECONDS"
Result<RecipePose> moment_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  double time = 0;
  const char* end = text.data() + text.size();
  if (colon == std::string::npos || colon == 0 || std::from_chars(text.data() + colon + 1, end, time).ptr != end ||
      !(time >= 0) || !std::isfinite(time))
    return usage_error(fmt::format("--at {}: a clip and a time in seconds as in run:0.25", text));
  return RecipePose{fmt::format("{} at {:g} s", text.substr(0, colon), time), text.substr(0, colon), time};
}

Result<std::vector<RecipePose>> moments_of(const Options& options) {
  std::vector<RecipePose> poses;
  for (const std::string& text : options.moments) {
    Result<RecipePose> pose = moment_of(text);
    SUPPLE_RETURN_IF_ERROR(pose);
    poses.push_back(std::move(*pose));
  }
  return poses;
}

Result<CharacterSource> read_character_with(const Options& options, const std::vector<RecipePose>& moments) {
  Result<CharacterSource> source = load_source(options.input, options.motions);
  if (!source.ok() || moments.empty()) return source;
  Recipe recipe = source->recipe;
  recipe.poses.insert(recipe.poses.end(), moments.begin(), moments.end());
  return follow_recipe(std::move(source->file), recipe, source->folder);
}

void tell(const Options& options, const SoftCharacter& soft, std::span<const ResolvedPose> poses,
          const std::string& recipe, Session& session) {
  const double height = height_of(soft.source());
  session.line("{}", options.input);
  for (const ResolvedPose& pose : poses) {
    session.line(
        "pose          {}: the skin is moved by at most {:.2f} % of the height; {:.3f} % deep inside itself yet",
        pose.name, 100 * pose.largest / height, 100 * pose.penetration / height);
    if (!pose.converged)
      session.warnings.push_back(fmt::format("{}: the pose \"{}\" isn't quite at rest", options.input, pose.name));
    session.result["poses"].push_back({{"name", pose.name},
                                       {"target", pose.target},
                                       {"largest_m", pose.largest},
                                       {"penetration_m", pose.penetration},
                                       {"converged", pose.converged}});
  }
  session.line("written       {}, {}", options.output, recipe);
  session.line("next          supple bake {} -o soft.glb", recipe);
  session.result["input"] = options.input;
  session.result["files"] = {options.output, recipe};
  session.result["height_m"] = height;
}

/// Where nobody has named a pose: those in which the rig puts skin into skin, as `[flesh] contact` finds them.
Status correct_contacts(const Options& options, CharacterSource source, const std::string& recipe, Session& session) {
  const std::filesystem::path folder = source.folder;
  Result<CharacterSource> apart = with_contacts_resolved(std::move(source), {}, session.progress);
  if (!apart.ok()) return about(options.input, apart.error());
  for (const std::string& warning : apart->character.warnings) session.warnings.push_back(warning);
  if (!apart->contacts || apart->contacts->corrections.empty())
    return input_error(
        fmt::format("{}: there is no pose to resolve: in its clips the rig puts no skin into skin that pushes would "
                    "bring out; name "
                    "moments of clips (--at CLIP:SECONDS, or [[pose]])",
                    options.input));
  SUPPLE_RETURN_IF_ERROR(save_gltf(apart->file.document, options.output));
  SUPPLE_RETURN_IF_ERROR(
      write_file_atomically(recipe, write_recipe(recipe_beside(folder, options.output, apart->recipe))));
  session.line("{}", options.input);
  tell_contacts(*apart, session, session.result);
  session.line("written       {}, {}", options.output, recipe);
  session.line("next          supple bake {} -o soft.glb", recipe);
  session.result["input"] = options.input;
  session.result["files"] = {options.output, recipe};
  session.result["height_m"] = height_of(*apart);
  return {};
}

Status correct(const Options& options, Session& session) {
  const std::filesystem::path output = options.output;
  if (output.extension() != ".glb" && output.extension() != ".gltf")
    return usage_error(fmt::format("-o {}: a character's file ends in .glb or .gltf", options.output));
  const std::string recipe = std::filesystem::path(output).replace_extension(".toml").string();
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, {options.input}));
  SUPPLE_RETURN_IF_ERROR(check_unnamed_output(session, recipe, ""));
  const Result<std::vector<RecipePose>> moments = moments_of(options);
  SUPPLE_RETURN_IF_ERROR(moments);
  session.progress.stage("reading the character");
  Result<CharacterSource> source = read_character_with(options, *moments);
  if (!source.ok()) return about(options.input, source.error());
  source->recipe.apply(options);
  if (!has_open_poses(*source)) return correct_contacts(options, std::move(*source), recipe, session);
  const Result<const CharacterEngine*> engine = find_engine("quasistatic");
  SUPPLE_RETURN_IF_ERROR(engine);
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  const Result<std::unique_ptr<SoftCharacter>> soft =
      (*engine)->build(std::make_shared<const CharacterSource>(std::move(*source)), session.progress,
                       cache ? *cache : StageStore::none());
  if (!soft.ok()) return about(options.input, soft.error());
  const Result<std::vector<ResolvedPose>> poses = resolve_poses(**soft, session.progress);
  if (!poses.ok()) return about(options.input, poses.error());
  Result<ResolvedCharacter> resolved = with_resolved_poses((*soft)->source(), *poses, output);
  if (!resolved.ok()) return about(options.input, resolved.error());
  SUPPLE_RETURN_IF_ERROR(save_gltf(resolved->document, output));
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(recipe, write_recipe(resolved->recipe)));
  for (const std::string& warning : (*soft)->warnings()) session.warnings.push_back(warning);
  tell(options, **soft, *poses, recipe, session);
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Resolves self-collision in a character's example poses. In each [[pose]] of its recipe, or moment of a clip\n"
      "that --at names, its flesh is solved with contact by the engine \"quasistatic\"; what that changes becomes a\n"
      "morph target, and a [[correction]] of that pose. Where no pose is named, those are found in which the rig puts\n"
      "skin into skin, and the skin is pushed out of itself there, as [flesh] contact does in a bake. Writes the\n"
      "character with the targets, and the recipe that uses them beside it: with it the pose-space engine moves\n"
      "between poses whose creases are resolved.\n",
      "  supple correct hero.glb -o hero_resolved.glb\n"
      "  supple correct hero.toml -o hero_resolved.glb\n"
      "  supple correct hero.glb --at squat:0.8 --at flex:0.5 -o hero_resolved.glb\n"
      "  supple bake hero_resolved.toml -o hero_soft.glb\n");
  const auto options = std::make_shared<Options>();
  app.add_option("INPUT", options->input, "A character (.glb, .gltf) or a recipe (.toml)")->required()->type_name("");
  app.add_option("-o,--output", options->output, "The character to write; its recipe is written beside it")
      ->required()
      ->type_name("FILE");
  app.add_option("--at", options->moments, "A moment of a clip, in seconds; may be repeated")
      ->allow_extra_args(false)
      ->type_name("CLIP:S");
  app.add_option("--motion", options->motions, "A file with more clips for the character: .glb, .gltf or .bvh")
      ->type_name("FILE");
  app.add_option("--tets", options->tets, "About how many tetrahedra")
      ->check(between(TetMeshingOptions::min_tets, TetMeshingOptions::max_tets))
      ->type_name("N");
  add_cache_option(app, *options);
  return [options](Session& session) { return correct(*options, session); };
}

const RegisteredCommand registered{17, "correct", "Resolve self-collision in a character's example poses.", add};

}  // namespace
}  // namespace supple::correct_verb
