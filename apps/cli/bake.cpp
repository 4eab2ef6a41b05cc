// SPDX-License-Identifier: Apache-2.0
// supple bake: a character, or its recipe, becomes a file that plays with soft tissue in any glTF viewer.
#include "asset_report.h"
#include "bake_options.h"
#include "contact_report.h"
#include "plant_report.h"
#include "supple/base/clock.h"
#include "supple/export/baked_mark.h"
#include "supple/pipeline/plant/plant_recipe.h"

#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <memory>

namespace supple {
namespace bake_verb {
namespace {

using Options = BakeOptions;

/// The most memory that this process has had so far [MiB].
double peak_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<double>(usage.ru_maxrss) / 1024 : 0.0;
}

double percent(double value, double whole) { return whole > 0 ? 100 * value / whole : 0; }

/// "belly 1.2 %, hips 0.8 %": the parts that move most, in the mean of squares.
std::string moving_most(const BakedClipReport& clip, double height) {
  constexpr double worth_naming = 0.005;  // of the skin
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  for (const MovingPart& part : clip.parts)
    if (names.size() < most && part.share >= worth_naming && part.rms > 0)
      names.push_back(fmt::format("{} {:.1f} %", part.name, percent(part.rms, height)));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether what drives the flesh was turned up or down to where its feel wants it.
void tell_exaggeration(const SoftCharacter& soft, Session& session) {
  const double gain = soft.exaggeration();
  if (gain > 1.05)
    session.line(
        "drive         turned up so that it shows: gentle motion {:.3g} times, violent motion {:.2g} times "
        "([flesh] feel)",
        gain, std::sqrt(gain));
  else if (gain < 0.95)
    session.line("drive         {:.0f} % of the clips', which would move it farther than is believed ([flesh] feel)",
                 100 * gain);
}

/// What was simulated, where the file shows noticeably less of it.
std::string lost_in_the_file(const BakedClipReport& clip, double height) {
  constexpr double noticeable = 0.05;
  if (clip.peak >= (1 - noticeable) * clip.simulated_peak && clip.rms >= (1 - noticeable) * clip.simulated_rms)
    return {};
  return fmt::format(
      "simulated: {:.2f} % (rms), at most {:.2f} %; the rest is lost to the file's size (--max-morphs, "
      "--tolerance)",
      percent(clip.simulated_rms, height), percent(clip.simulated_peak, height));
}

void tell_clips(const BakeReport& report, Session& session) {
  for (const BakedClipReport& clip : report.clips) {
    session.line(
        "clip          {}: {:.2f} s{}; the skin moves by {:.2f} % of the height (rms), at most {:.2f} % ({}, {:.2f} s)",
        clip.name, clip.duration, clip.loop ? ", loops" : "", percent(clip.rms, report.height),
        percent(clip.peak, report.height), clip.peak_part, clip.peak_time);
    if (const std::string most = moving_most(clip, report.height); !most.empty())
      session.line("              most: {}", most);
    if (const std::string lost = lost_in_the_file(clip, report.height); !lost.empty())
      session.line("              {}", lost);
    if (clip.violent > 0)
      session.line(
          "              limited for {:.2f} s: the clip moves up to {:.1f} times as violently as such flesh bears "
          "(--no-limit)",
          clip.violent, clip.violence);
    if (clip.skin_depth)
      session.line("              skin inside skin by at most {:.2f} % of the height, with its flesh",
                   percent(*clip.skin_depth, report.height));
    if (clip.tone < 1)
      session.line("              toned down to {:.0f} %: it is wilder than the others (--amount, --feel)",
                   100 * clip.tone);
    if (clip.restraint < 1)
      session.line("              held back to {:.0f} %, since it flew apart with more; firmer flesh needs no help",
                   100 * clip.restraint);
    if (clip.solved_frames > 0)
      session.line(
          "              {} frames at rest{}; worst penetration {:.3f} % of the height (of contacts that are pushed "
          "{:.3f} %), worst residual {:.1e}",
          clip.solved_frames,
          clip.recovered > 0 ? fmt::format(", {} of them not quite", clip.recovered) : std::string(),
          percent(clip.penetration, report.height), percent(clip.contact_depth, report.height), clip.residual);
    if (clip.loop && clip.gap > 0.01)
      session.line("              the loop doesn't settle: its end was brought back by {:.1f} % of the height",
                   100 * clip.gap);
  }
}

/// What was asked for and isn't what was delivered comes first.
void tell_frequency(const SoftCharacter& soft, Session& session, Json& out) {
  const Recipe& recipe = soft.source().recipe;
  const auto* reduced = std::get_if<CharacterAsset>(&soft.asset());
  const auto* full = std::get_if<FullModel>(&soft.asset());
  const double delivered = reduced ? reduced->flesh_frequency : full ? full->flesh_frequency : 0;
  if (!tunes_stiffness(recipe) || (reduced == nullptr && full == nullptr)) return;
  const double asked = wanted_frequency(recipe);
  out["asked_hz"] = asked;
  constexpr double agree = 0.1;
  if (std::abs(delivered / asked - 1) <= agree) return;
  const bool painted = !recipe.regions.empty() || !recipe.paints.empty();
  session.line("asked for {:.3g} Hz, delivered {:.3g} Hz: {}", asked, delivered,
               painted ? "regions and paint make parts of the flesh softer or firmer than the rest"
                       : "the asset was built with other flesh");
}

void tell_output(const Options& options, const BakeReport& report, Session& session) {
  if (options.format.empty() || options.format == "glb") {
    const CompressionReport& c = report.glb.compression;
    const HelperBoneReport& b = report.glb.bones;
    if (options.helper_bones > 0)
      session.line(
          "helper bones  {}, which keep {:.0f} % of the motion; {:.3f} % of the height off at most ({:.4f} % rms)",
          b.bones, 100 * b.kept(), percent(b.largest_error, b.height), percent(b.rms_error, b.height));
    else
      session.line("morphs        {}, {:.3f} % of the height off at most ({:.4f} % rms), {} keys", c.targets,
                   percent(c.largest_error, c.height), percent(c.rms_error, c.height), c.keys);
    session.line("written       {} ({:.2f} MB)", report.files.front().string(),
                 static_cast<double>(report.glb.bytes) / 1e6);
  } else {
    session.line("written       {} in {}", counted(report.files.size(), "file", "files"), options.output);
  }
}

std::string slowest(const SoftCharacter& soft, const BakeReport& report) {
  const std::pair<double, const char*> stages[] = {{soft.seconds.embed, "filling with tetrahedra"},
                                                   {soft.seconds.reduce, "making the model"},
                                                   {report.simulate_seconds, "simulating"},
                                                   {report.write_seconds, "writing"}};
  const auto* most = std::max_element(std::begin(stages), std::end(stages));
  return fmt::format("{} ({:.1f} s)", most->second, most->first);
}

Json parts_json(const BakedClipReport& clip, double height) {
  Json parts = Json::array();
  for (const MovingPart& part : clip.parts)
    parts.push_back({{"name", part.name},
                     {"rms_percent", percent(part.rms, height)},
                     {"peak_percent", percent(part.peak, height)},
                     {"share", part.share}});
  return parts;
}

void fill_json(const std::string& input, const SoftCharacter& soft, const BakeReport& report, Json& out) {
  out["input"] = input;
  if (const Result<const CharacterEngine*> engine = engine_of(soft.asset()); engine.ok())
    out["engine"] = (*engine)->name();
  for (const auto& file : report.files) out["files"].push_back(file.string());
  fill_body(soft.asset(), out);
  out["height_m"] = report.height;
  out["gain"] = report.gain;
  for (const BakedClipReport& clip : report.clips) {
    out["clips"].push_back({{"name", clip.name},
                            {"duration_s", clip.duration},
                            {"frames", clip.frames},
                            {"rate_hz", clip.rate},
                            {"peak_m", clip.peak},
                            {"peak_percent", percent(clip.peak, report.height)},
                            {"peak_time_s", clip.peak_time},
                            {"peak_part", clip.peak_part},
                            {"rms_m", clip.rms},
                            {"rms_percent", percent(clip.rms, report.height)},
                            {"simulated_peak_percent", percent(clip.simulated_peak, report.height)},
                            {"simulated_rms_percent", percent(clip.simulated_rms, report.height)},
                            {"parts", parts_json(clip, report.height)},
                            {"limited_s", clip.violent},
                            {"violence", clip.violence},
                            {"tone", clip.tone},
                            {"restraint", clip.restraint},
                            {"energy_j", clip.energy},
                            {"loop", clip.loop},
                            {"loop_rounds", clip.rounds},
                            {"loop_gap", clip.gap},
                            {"cuts", clip.cuts},
                            {"recovered_steps", clip.recovered}});
    if (clip.solved_frames > 0)
      out["clips"].back().update({{"solved_frames", clip.solved_frames},
                                  {"worst_penetration_m", clip.penetration},
                                  {"worst_contact_m", clip.contact_depth},
                                  {"worst_residual", clip.residual}});
  }
  for (std::size_t k = 0; k < report.clips.size(); ++k)
    if (report.clips[k].skin_depth)
      out["clips"][k]["skin_depth_percent"] = percent(*report.clips[k].skin_depth, report.height);
  const CompressionReport& c = report.glb.compression;
  out["morphs"] = {{"targets", c.targets},
                   {"keys", c.keys},
                   {"largest_error_percent", percent(c.largest_error, c.height)},
                   {"rms_error_percent", percent(c.rms_error, c.height)},
                   {"normal_rms_degrees", c.normal_rms}};
  if (const HelperBoneReport& b = report.glb.bones; b.bones > 0)
    out["helper_bones"] = {{"bones", b.bones},
                           {"kept", b.kept()},
                           {"largest_error_percent", percent(b.largest_error, b.height)},
                           {"rms_error_percent", percent(b.rms_error, b.height)}};
  out["bytes"] = report.glb.bytes;
  out["timing"] = {{"read_s", soft.seconds.read},
                   {"embed_s", soft.seconds.embed},
                   {"reduce_s", soft.seconds.reduce},
                   {"simulate_s", report.simulate_seconds},
                   {"write_s", report.write_seconds}};
  out["peak_memory_mib"] = peak_memory();
}

bool uses_preroll(const Options& options, const BakeReport& report) {
  const bool once = std::any_of(report.clips.begin(), report.clips.end(), [](const auto& clip) { return !clip.loop; });
  return once && (options.from.value_or(0) > 0 || !options.gravity.empty() || !options.wind.empty());
}

using Source = std::shared_ptr<const CharacterSource>;
using Soft = Result<std::unique_ptr<SoftCharacter>>;

/// Taken from the file that --asset names, by the engine whose model it is.
Soft soft_from_asset(const Options& options, Source source) {
  Result<Asset> asset = load_asset(options.asset);
  SUPPLE_RETURN_IF_ERROR(asset);
  const Result<const CharacterEngine*> engine = engine_of(*asset);
  if (!engine.ok()) return about(options.asset, engine.error());
  if (!options.engine.empty() && (*engine)->name() != options.engine)
    return usage_error(
        fmt::format("{} holds {}, which is the engine \"{}\"'s; leave --engine out, or build one for \"{}\"",
                    options.asset, contents_of(*asset), (*engine)->name(), options.engine));
  Soft soft = (*engine)->take_asset(std::move(source), std::move(*asset));
  if (!soft.ok()) return about(options.asset, soft.error());
  return soft;
}

/// Built, or found in the cache.
Soft soft_from_source(const Options& options, Source source, BuildCache* cache, Session& session) {
  const Result<const CharacterEngine*> engine = find_baking_engine(options.engine, *source);
  SUPPLE_RETURN_IF_ERROR(engine);
  return (*engine)->build(std::move(source), session.progress, cache != nullptr ? *cache : StageStore::none());
}

/// A static model: what it has no use for is refused, not passed over.
Status bake_still(const Options& options, const std::string& input, const std::filesystem::path& output,
                  Session& session, Json& out) {
  const bool for_characters = !options.clips.empty() || !options.motions.empty() || !options.asset.empty() ||
                              options.helper_bones > 0 || !options.engine.empty() || options.from || options.to ||
                              !options.gravity.empty() || !options.feel.empty() || options.coordinates;
  if (for_characters || (!options.format.empty() && options.format != "glb"))
    return usage_error(
        fmt::format("{} has no skeleton and is baked as a plant in the wind, which takes --frequency, --damping, "
                    "--tets, --rate, --wind, --tolerance and --max-morphs only; a recipe (`supple init`) sets the rest",
                    input));
  PlantOptions plant;
  plant.frequency = options.frequency;
  plant.damping = options.damping;
  plant.tolerance = options.tolerance;
  plant.tets = options.tets;
  plant.rate = options.rate;
  plant.most_morphs = options.most_morphs;
  const Result<Vec3> wind = vector_of("--wind", options.wind);
  SUPPLE_RETURN_IF_ERROR(wind);
  plant.wind = *wind;
  return bake_plant_file(input, output, plant, session, out);
}

}  // namespace
}  // namespace bake_verb

Status bake_one(const BakeOptions& options, const std::string& input, const std::filesystem::path& output,
                Session& session, Json& out) {
  using namespace bake_verb;
  if (is_plant(input)) return bake_still(options, input, output, session, out);
  const auto start = Clock::now();
  Result<CharacterSource> source = read_source(options, input, session);
  if (!source.ok()) return about(input, source.error());
  const double read_seconds = seconds_since(start);
  const Result<BakeSettings> settings = bake_settings(options, source->recipe);
  SUPPLE_RETURN_IF_ERROR(settings);
  // A clip that isn't there is told before the body is built, not after.
  const Result<std::vector<Index>> clips = chosen_clips(source->character, settings->clips);
  if (!clips.ok()) return about(input, clips.error());
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  const auto shared = std::make_shared<const CharacterSource>(std::move(*source));
  const Soft made = options.asset.empty() ? soft_from_source(options, shared, cache.get(), session)
                                          : soft_from_asset(options, shared);
  if (!made.ok()) return about(input, made.error());
  SoftCharacter& soft = **made;
  soft.seconds.read = read_seconds;
  const Result<BakeReport> report = bake_character(soft, output, *settings, session.progress);
  if (!report.ok()) return about(input, report.error());
  if (options.preroll_given && !uses_preroll(options, *report))
    session.warnings.emplace_back(
        "--preroll changes nothing here: clips that loop need none, and others start with it only after --from, or "
        "with "
        "--gravity or --wind");
  if (!is_height_credible(report->height))
    session.warnings.push_back(
        fmt::format("{}: the character is {:.3g} m tall; if it isn't, \"scale\" in a recipe says how many metres a "
                    "unit of the file "
                    "has (how it moves doesn't depend on it)",
                    input, report->height));
  for (const std::string& warning : soft.character().warnings) session.warnings.push_back(warning);
  for (const std::string& warning : soft.warnings()) session.warnings.push_back(warning);
  const CompressionReport& compression = report->glb.compression;
  if (settings->format == BakeFormat::glb && options.helper_bones == 0 && options.tolerance &&
      !compression.within_tolerance())
    session.warnings.push_back(fmt::format(
        "{}: {} morph targets bring the error to {:.2f} % of the height, not to the {:g} % asked for", output.string(),
        compression.targets, percent(compression.largest_error, compression.height), *options.tolerance));
  tell_frequency(soft, session, out);
  session.line("{}", input);
  tell_body(soft.asset(), session);
  tell_cache(cache.get(), session);
  tell_exaggeration(soft, session);
  tell_contacts(soft.source(), session, out);
  tell_clips(*report, session);
  tell_output(options, *report, session);
  session.line("slowest       {}; {:.0f} MiB of memory at most", slowest(soft, *report), peak_memory());
  fill_json(input, soft, *report, out);
  out["cache"] = cache_json(cache.get());
  return {};
}

namespace bake_verb {
namespace {

struct Job {
  std::string input;
  std::filesystem::path output;  ///< a file, or the folder of its caches
};

/// What goes where; two outputs of one name are refused before any work.
Result<std::vector<Job>> plan(const Options& options) {
  std::vector<Job> jobs;
  std::map<std::filesystem::path, std::string> taken;
  for (const std::string& input : options.inputs) {
    Job job{input, options.inputs.size() > 1 ? output_for(options, input) : std::filesystem::path(options.output)};
    if (const auto [twin, is_new] = taken.emplace(job.output.lexically_normal(), input); !is_new)
      return usage_error(fmt::format("{} and {} would both become {}; bake them into different folders", twin->second,
                                     input, job.output.string()));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// A file in a folder that the user named may be somebody's work: what isn't a baked character is replaced with --force
/// only.
Status check_output_in_folder(const Session& session, const std::filesystem::path& output) {
  std::error_code none;
  if (session.force || !std::filesystem::exists(output, none) || is_baked_file(output)) return {};
  return usage_error(fmt::format(
      "{} is there already and is no character that we baked; name another folder, or --force", output.string()));
}

/// Folders are made, and found writable, before the work.
Status prepare_output(const Options& options, const Job& job, Session& session) {
  if (writes_caches(options)) return session.files.make_folder(job.output);
  if (options.inputs.size() > 1) {
    SUPPLE_RETURN_IF_ERROR(session.files.make_folder(job.output.parent_path()));
    SUPPLE_RETURN_IF_ERROR(check_output_in_folder(session, job.output));
  }
  return check_output(session, job.output.string(), {job.input, options.asset});
}

Status check_options(const Options& options) {
  if (const Result<const CharacterEngine*> engine = find_engine(options.engine); !engine.ok()) return engine.error();
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (options.inputs.size() == 1 && !writes_caches(options) && extension != ".glb" && extension != ".gltf")
    return usage_error(fmt::format("-o {}: a character's file ends in .glb or .gltf", options.output));
  SUPPLE_RETURN_IF_ERROR(check_frames(options));
  if (options.asset.empty()) return {};
  if (options.inputs.size() > 1) return usage_error("--asset is of one character; bake the others by themselves");
  if (options.frequency || options.coordinates || options.tets || !options.feel.empty() || !options.limit)
    return usage_error(
        "--feel, --frequency, --no-limit, --size and --tets change what is built, but --asset brings what was built "
        "before; leave one out");
  return {};
}

/// One bad file among many doesn't stop the others, and what is finished stays.
Status bake_several(const Options& options, const std::vector<Job>& jobs, Session& session) {
  for (const Job& job : jobs) {
    Json one = Json::object();
    Status done = prepare_output(options, job, session);
    if (done.ok()) done = bake_one(options, job.input, job.output, session, one);
    if (done.ok()) done = session.files.commit();
    if (!done.ok()) {
      session.files.discard();
      if (session.progress.cancelled()) return done;
      session.progress.clear();
      session.exit_code = report(about(job.input, done.error()));
      one = {{"input", job.input}, {"error", done.error().message}};
    }
    session.result["characters"].push_back(one);
  }
  return {};
}

Status bake(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check_options(options));
  const Result<std::vector<Job>> jobs = plan(options);
  SUPPLE_RETURN_IF_ERROR(jobs);
  if (jobs->size() > 1) {
    SUPPLE_RETURN_IF_ERROR(bake_several(options, *jobs, session));
  } else {
    const Job& job = jobs->front();
    SUPPLE_RETURN_IF_ERROR(prepare_output(options, job, session));
    Json one = Json::object();
    SUPPLE_RETURN_IF_ERROR(bake_one(options, job.input, job.output, session, one));
    session.result = one;
  }
  if (is_plant(options.inputs.front()))
    session.line("more wind, less? --wind 8,0,0, --frequency 0.5, or a recipe: supple init");
  else
    session.line("too soft, too stiff? --feel subtle, natural, bouncy or jelly; farther: --amount 1.5, or --amount 5%");
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Gives a rigged, animated character soft tissue and writes a file that plays everywhere. Without settings:\n"
           "the character is filled with tetrahedra, its bones hold them, and the flesh follows the clips with lag,\n"
           "bulge and jiggle. The skeleton's animation stays as it is; the soft motion becomes morph targets.\n"
           "A recipe (`supple init`) sets everything else; several inputs go into the folder OUT.\n"
           "A static model without a skeleton is taken for a plant: its parts are found and move in the wind\n"
           "(docs/plants.md).\n",
           "  supple bake hero.glb -o hero_soft.glb\n"
           "  supple bake hero.glb -o soft.glb --clip run --feel bouncy\n"
           "  supple bake hero.toml -o caches --format pc2\n"
           "  supple bake hero.glb --asset hero.supple -o hero_soft.glb\n"
           "  supple bake hero.glb --engine full -o hero_truth.glb --clip run\n"
           "  supple bake hero.glb --engine quasistatic -o hero_folds.glb\n"
           "  supple bake tree.glb -o tree_wind.glb\n"
           "  supple bake *.glb -o soft\n");
  const auto options = std::make_shared<Options>();
  app.add_option("INPUT", options->inputs, "A character or a plant (.glb, .gltf) or a recipe (.toml); or several")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output, "The character to write, or a folder")->required()->type_name("OUT");
  app.add_option("--asset", options->asset, "The character's asset, built by `supple build`; clips may be new")
      ->type_name("FILE");
  add_bake_options(app, *options);
  const CLI::Option* preroll = app.get_option("--preroll");
  return [options, preroll](Session& session) {
    options->preroll_given = preroll->count() > 0;
    return bake(*options, session);
  };
}

const RegisteredCommand registered{15, "bake", "Bake soft motion into a character's file.", add};

}  // namespace
}  // namespace bake_verb
}  // namespace supple
