// SPDX-License-Identifier: Apache-2.0
// supple view: a page that shows a character or an object live, or a baked file beside its original.
#include "character_options.h"
#include "command.h"
#include "supple/io/file.h"
#include "supple/pipeline/view_page.h"

#include <memory>

namespace supple::view_verb {
namespace {

struct Options : CharacterOptions {
  std::string input, output, asset, beside, page;
  bool baked = false;
};

/// With the asset that was named, or with one that is built, or found in the cache.
Result<ViewThing> live_character(const Options& options, Session& session) {
  session.progress.stage("reading the character");
  Result<CharacterSource> source = load_source(options.input);
  if (!source.ok()) return about(options.input, source.error());
  source->recipe.apply(options);
  const auto shared = std::make_shared<const CharacterSource>(std::move(*source));
  if (!options.asset.empty()) {
    Result<Asset> asset = load_asset(options.asset);
    SUPPLE_RETURN_IF_ERROR(asset);
    const Result<const CharacterEngine*> engine = engine_of(*asset);
    if (!engine.ok()) return about(options.asset, engine.error());
    const auto taken = (*engine)->take_asset(shared, std::move(*asset));
    if (!taken.ok()) return about(options.asset, taken.error());
    const Result<ViewThing> thing = view_character(**taken);
    if (!thing.ok()) return about(options.asset, thing.error());
    return thing;
  }
  const Result<const CharacterEngine*> engine = find_engine(options.engine);
  SUPPLE_RETURN_IF_ERROR(engine);
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  const auto built = (*engine)->build(shared, session.progress, cache ? *cache : StageStore::none());
  if (!built.ok()) return about(options.input, built.error());
  session.warnings = (*built)->character().warnings;
  for (const std::string& warning : (*built)->warnings()) session.warnings.push_back(warning);
  tell_cache(cache.get(), session);
  const Result<ViewThing> thing = view_character(**built);
  if (!thing.ok()) return about(options.input, thing.error());
  return thing;
}

Status view(const Options& options, Session& session) {
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (ending != ".html" && ending != ".htm")
    return usage_error(fmt::format("-o {}: a page's file ends in .html", options.output));
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, {options.input, options.asset, options.beside}));
  const Result<std::filesystem::path> page =
      options.page.empty() ? find_view_page() : Result<std::filesystem::path>(options.page);
  SUPPLE_RETURN_IF_ERROR(page);
  const Result<std::string> empty = read_file(*page);
  SUPPLE_RETURN_IF_ERROR(empty);
  const bool baked = options.baked || !options.beside.empty();
  const bool object = std::filesystem::path(options.input).extension() == ".supple";
  if (object && (baked || !options.asset.empty()))
    return usage_error(
        fmt::format("{}: an object's asset is shown by itself, without --asset, --beside and --baked", options.input));
  const Result<ViewThing> thing = object  ? view_object(options.input)
                                  : baked ? view_baked(options.input, options.beside)
                                          : live_character(options, session);
  if (!thing.ok()) return object ? about(options.input, thing.error()) : thing.error();
  const Result<std::string> filled = fill_view_page(*empty, *thing);
  if (!filled.ok()) return about(page->string(), filled.error());
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.output, *filled));
  session.line("{}", options.input);
  session.line("page          {}, {:.2f} MB: open it in any browser", options.output,
               static_cast<double>(filled->size()) / 1e6);
  session.result["input"] = options.input;
  session.result["kind"] = thing->kind;
  session.result["page"] = options.output;
  session.result["bytes"] = filled->size();
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Makes one page (.html) that shows a thing and needs nothing else: open it from the disk, or send it.\n"
      "Of a character, as a recipe or a .glb with a skin: live, with clips to scrub, flesh to pull with the mouse\n"
      "or a finger, and sliders; built as `supple build` does, unless --asset brings what was built before.\n"
      "Of a deformable object, or one of many parts, as the .supple that `supple build` makes of a scene: live, to "
      "pull.\n"
      "With --beside: a baked file beside its original.\n",
      "  supple view hero.glb -o hero.html\n"
      "  supple view hero.toml --asset hero.supple -o hero.html\n"
      "  supple view hero_soft.glb --beside hero.glb -o hero.html\n"
      "  supple view beam.supple -o beam.html\n");
  const auto options = std::make_shared<Options>();
  app.add_option("THING", options->input,
                 "A character (.glb, .gltf), a recipe (.toml), a baked file (.glb), or an\nobject's asset (.supple)")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output, "The page to write")->required()->type_name("FILE.html");
  CLI::Option* asset = app.add_option("--asset", options->asset, "The character's asset, built by `supple build`");
  asset->type_name("FILE.supple");
  CLI::Option* beside =
      app.add_option("--beside", options->beside, "The original that the baked THING is shown beside");
  beside->type_name("FILE.glb")->excludes(asset);
  app.add_flag("--baked", options->baked, "Show the file as it plays, without simulating anything")->excludes(asset);
  app.add_option("--page", options->page, "The empty page to fill [the one that `./go web` has built]")
      ->type_name("FILE.html");
  add_character_options(app, *options);
  add_cache_option(app, *options);
  return [options](Session& session) { return view(*options, session); };
}

const RegisteredCommand registered{19, "view", "Make a page that shows a character or object live, or a baked file.",
                                   add};

}  // namespace
}  // namespace supple::view_verb
