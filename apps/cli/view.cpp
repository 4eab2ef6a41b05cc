// SPDX-License-Identifier: Apache-2.0
// supple view: a page that shows a character or an object live, or a baked file beside its original.
#include "character_options.h"
#include "mesh_options.h"
#include "supple/io/file.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/pipeline/view_page.h"

#include <memory>

namespace supple::view_verb {
namespace {

struct Options : CharacterOptions {
  std::string input, output, asset, beside, page;
  bool baked = false, inside = false;
  int modes = 10;
  std::vector<std::string> fixed;
  SceneMaterial material;
  CLI::Option* modes_option = nullptr;
};

/// A solid mesh with modes of it.
Result<ViewThing> solid_mesh(const Options& options, Session& session) {
  session.progress.stage("reading");
  Result<SolidMesh> mesh = load_solid(options.input, session.warnings);
  if (!mesh.ok()) return about(options.input, mesh.error());
  override_materials(*mesh, options.material);
  const std::string name = std::filesystem::path(options.input).stem().string();
  if (options.modes == 0) return view_solid(*mesh, name);
  const Result<ElasticBody> body =
      std::visit([](const auto& m) { return ElasticBody::create(m, MaterialModel::linear); }, *mesh);
  if (!body.ok()) return about(options.input, body.error());
  std::vector<Index> fixed;
  for (const std::string& selection : options.fixed) {
    const Result<std::vector<Index>> chosen = select_vertices(selection, vertices_of(*mesh));
    if (!chosen.ok()) return about(options.input, chosen.error());
    fixed.insert(fixed.end(), chosen->begin(), chosen->end());
  }
  std::sort(fixed.begin(), fixed.end());
  fixed.erase(std::unique(fixed.begin(), fixed.end()), fixed.end());
  const Result<Modes> modes = compute_modes(*body, fixed, {.count = options.modes}, session.progress);
  if (!modes.ok())
    return about(options.input, Error{modes.error().kind, modes.error().message + "; --modes 0 shows the mesh alone"});
  return view_solid(*mesh, name, &*modes);
}

/// The page of a character that was built or loaded: live, or its tetrahedra.
Result<ViewThing> thing_of(const Options& options, const SoftCharacter& soft, Session& session, StageStore& store) {
  const Result<ViewFlesh> flesh = view_flesh(soft.source(), session.progress, store);
  if (!options.inside) return view_character(soft, flesh.ok() ? &*flesh : nullptr);
  SUPPLE_RETURN_IF_ERROR(flesh);
  return view_tets(soft.source(), *flesh, &soft.asset());
}

/// What browsers play in real time on small machines, in pages of some megabytes. "As many as the quality needs" are up
/// to 200: steps that take 40 times as long, and 25 MB.
constexpr int live_coordinates = 45;
/// An asset of more may be too much for a page; the page then lets fewer of them move.
constexpr int most_live_coordinates = 100;

/// With the asset that was named, or with one that is built, or found in the cache.
Result<ViewThing> live_character(const Options& options, Session& session) {
  session.progress.stage("reading the character");
  Result<CharacterSource> source = load_source(options.input);
  if (!source.ok()) return about(options.input, source.error());
  source->recipe.apply(options);
  Recipe& recipe = source->recipe;
  if (options.asset.empty() && recipe.flesh.size == 0 && recipe.flesh.quality != Quality::draft)
    recipe.flesh.size = live_coordinates;
  const auto shared = std::make_shared<const CharacterSource>(std::move(*source));
  if (!options.asset.empty()) {
    Result<Asset> asset = load_asset(options.asset);
    SUPPLE_RETURN_IF_ERROR(asset);
    if (const auto* character = std::get_if<CharacterAsset>(&*asset);
        character != nullptr && character->model->size() > most_live_coordinates)
      session.warnings.push_back(fmt::format(
          "{}: its {} coordinates make a large page that browsers hardly play in real time; without --asset "
          "it is built with {}",
          options.asset, character->model->size(), live_coordinates));
    const Result<const CharacterEngine*> engine = engine_of(*asset);
    if (!engine.ok()) return about(options.asset, engine.error());
    const auto taken = (*engine)->take_asset(shared, std::move(*asset));
    if (!taken.ok()) return about(options.asset, taken.error());
    const std::unique_ptr<BuildCache> cache = options.open_cache();
    const Result<ViewThing> thing = thing_of(options, **taken, session, cache ? *cache : StageStore::none());
    if (!thing.ok()) return about(options.asset, thing.error());
    return thing;
  }
  const Result<const CharacterEngine*> engine = find_engine(options.engine);
  SUPPLE_RETURN_IF_ERROR(engine);
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  StageStore& store = cache ? *cache : StageStore::none();
  if (options.inside) {
    const Result<ViewFlesh> flesh = view_flesh(*shared, session.progress, store);
    if (!flesh.ok()) return about(options.input, flesh.error());
    return view_tets(*shared, *flesh);
  }
  const auto built = (*engine)->build(shared, session.progress, store);
  if (!built.ok()) return about(options.input, built.error());
  for (const std::string& warning : (*built)->character().warnings) session.warnings.push_back(warning);
  for (const std::string& warning : (*built)->warnings()) session.warnings.push_back(warning);
  tell_cache(cache.get(), session);
  const Result<ViewThing> thing = thing_of(options, **built, session, store);
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
  const std::string kind = std::filesystem::path(options.input).extension().string();
  const bool object = kind == ".supple", solid = kind == ".veg" || kind == ".msh" || kind == ".mesh" || kind == ".node";
  if ((object || solid) && (baked || !options.asset.empty() || options.inside))
    return usage_error(fmt::format("{}: {} is shown by itself, without --asset, --beside, --baked and --inside",
                                   options.input, object ? "an object's asset" : "a mesh"));
  if (baked && options.inside) return usage_error("--inside: a baked file has no tetrahedra; name its character");
  if (!solid && (options.modes_option->count() > 0 || !options.fixed.empty() || options.material.young ||
                 options.material.poisson || options.material.density))
    return usage_error(fmt::format("{}: --modes, --fix and materials are for a solid mesh", options.input));
  const Result<ViewThing> thing = object  ? view_object(options.input)
                                  : solid ? solid_mesh(options, session)
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
      "With --beside: a baked file beside its original.\n"
      "With --inside: the tetrahedra that fill a character, to cut through; with --asset also those that its forces\n"
      "are summed over.\n"
      "Of a solid mesh: the same, and its vibration modes. Without --fix it floats.\n",
      "  supple view hero.glb -o hero.html\n"
      "  supple view hero.toml --asset hero.supple -o hero.html\n"
      "  supple view hero_soft.glb --beside hero.glb -o hero.html\n"
      "  supple view beam.supple -o beam.html\n"
      "  supple view hero.glb --inside -o inside.html\n"
      "  supple view beam.msh --fix min-x --modes 12 -o modes.html\n");
  const auto options = std::make_shared<Options>();
  app.add_option("THING", options->input,
                 "A character (.glb, .gltf), a recipe (.toml), a baked file (.glb), an\nobject's asset (.supple), or a "
                 "solid mesh (.veg, .msh, .mesh, .node)")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output, "The page to write")->required()->type_name("FILE.html");
  CLI::Option* asset = app.add_option("--asset", options->asset, "The character's asset, built by `supple build`");
  asset->type_name("FILE.supple");
  CLI::Option* beside =
      app.add_option("--beside", options->beside, "The original that the baked THING is shown beside");
  beside->type_name("FILE.glb")->excludes(asset);
  app.add_flag("--baked", options->baked, "Show the file as it plays, without simulating anything")->excludes(asset);
  app.add_flag("--inside", options->inside, "Show the tetrahedra of a character instead of letting it live");
  options->modes_option = app.add_option("--modes", options->modes, "How many modes of a solid mesh; 0: none")
                              ->check(between(0, 400))
                              ->type_name("N")
                              ->capture_default_str();
  app.add_option("--fix", options->fixed,
                 std::string("Vertices of a solid mesh that can't move; may be repeated:\n") + selection_help)
      ->type_name("SELECT")
      ->allow_extra_args(false);
  add_material_options(app, options->material);
  app.add_option("--page", options->page, "The empty page to fill [the one that `./go web` has built]")
      ->type_name("FILE.html");
  add_character_options(app, *options);
  app.add_option(
         "--size", options->coordinates,
         fmt::format("Coordinates of the reduced body [{}, unless the recipe says or it is a draft]", live_coordinates))
      ->check(between(1, 400))
      ->type_name("R")
      ->excludes(asset);
  add_cache_option(app, *options);
  return [options](Session& session) { return view(*options, session); };
}

const RegisteredCommand registered{19, "view", "Make a page that shows a character or object live, or a baked file.",
                                   add};

}  // namespace
}  // namespace supple::view_verb
