// SPDX-License-Identifier: Apache-2.0
#include "bake_options.h"

#include <charconv>

namespace supple {
namespace {

/// "A:B", the first and the last frame.
Result<std::pair<Index, Index>> frames_of(const std::string& text) {
  Index first = 0, last = 0;
  const char *begin = text.data(), *end = begin + text.size();
  const std::from_chars_result a = std::from_chars(begin, end, first);
  const bool parted = a.ec == std::errc() && a.ptr != end && *a.ptr == ':';
  const std::from_chars_result b = parted ? std::from_chars(a.ptr + 1, end, last) : a;
  if (!parted || b.ec != std::errc() || b.ptr != end || first < 0 || last < first)
    return usage_error(fmt::format("--frames {}: two frames as in 0:23, the first and the last", text));
  return std::pair(first, last);
}

void add_feel(CLI::App& app, BakeOptions& options) {
  add_character_options(app, options);
  app.add_option("--gravity", options.gravity,
                 "Pull in m/s², as x,y,z; characters are drawn as gravity leaves them [none]")
      ->type_name("X,Y,Z");
  app.add_option("--wind", options.wind, "Velocity of the air in m/s")->type_name("X,Y,Z");
  app.add_option("--drag", options.drag,
                 "Share of the velocity against the air that is lost in a second [0, or 1 with --wind]")
      ->check(non_negative())
      ->type_name("K");
  app.add_option("--size", options.coordinates,
                 "Coordinates of the reduced body: more see finer motion [as the quality needs]")
      ->check(between(1, 400))
      ->type_name("R");
}

void add_motion(CLI::App& app, BakeOptions& options) {
  app.add_option("--motion", options.motions,
                 "A file with more clips for the character: .glb, .gltf or .bvh; or several")
      ->type_name("FILE");
  app.add_option("--clip", options.clips, "Bake this clip only; may be repeated")->type_name("NAME");
  app.add_option("--from", options.from, "Start at this time of the clip")->check(non_negative())->type_name("S");
  app.add_option("--to", options.to, "End at this time of the clip")->check(positive())->type_name("S");
  app.add_option(
         "--frames", options.frames,
         "The first and the last frame to bake, with --engine quasistatic: parts of a clip are the same as the\n"
         "whole, so that several machines can share it")
      ->type_name("A:B");
  app.add_option("--loop", options.loop,
                 "Which clips repeat without a seam: none, all, or auto: those that end as they begin [auto]")
      ->check(CLI::IsMember({"none", "all", "auto"}).description(""))
      ->type_name("WHICH");
  app.add_option("--preroll", options.preroll, "Time before the start in which flesh settles [2]")
      ->check(non_negative())
      ->type_name("S");
  app.add_option("--rate", options.rate, "Frames per second [30, or as many as the tolerance needs]")
      ->check(positive(1e4))
      ->type_name("FPS");
}

void add_output(CLI::App& app, BakeOptions& options) {
  app.add_option("--tolerance", options.tolerance,
                 "Largest error of the written motion, in % of the height [0.1, or a twentieth of the\n"
                 "largest displacement, whichever is more]")
      ->check(positive())
      ->type_name("PERCENT");
  app.add_option("--max-morphs", options.most_morphs, "At most so many morph targets for a mesh [24]")
      ->check(between(1, 500))
      ->type_name("N");
  app.add_option("--format", options.format,
                 "glb, or point caches: pc2, mdd, or vertex animation textures: exr, png [glb]")
      ->check(CLI::IsMember({"glb", "pc2", "mdd", "exr", "png"}).description(""))
      ->type_name("FORMAT");
  app.add_option("--helper-bones", options.helper_bones,
                 "Extra joints in place of morph targets, for players without these: at most so many for a mesh [32]")
      ->expected(0, 1)
      ->default_str("32")
      ->check(between(1, 200))
      ->type_name("N");
  app.add_flag("--pack", options.pack,
               "Round the file's numbers to what can be seen and compress it (EXT_meshopt_compression), for players\n"
               "that know the extension");
}

}  // namespace

Result<Vec3> vector_of(const std::string& option, const std::string& text) {
  if (text.empty()) return Vec3(Vec3::Zero());
  const Result<std::array<double, 3>> numbers = parse_vector(option, text);
  SUPPLE_RETURN_IF_ERROR(numbers);
  return Vec3((*numbers)[0], (*numbers)[1], (*numbers)[2]);
}

Status check_frames(const BakeOptions& options) {
  if (options.frames.empty()) return {};
  SUPPLE_RETURN_IF_ERROR(frames_of(options.frames));
  if (options.asset.empty() && options.engine != "quasistatic")
    return usage_error(
        "--frames bakes parts that equal the whole, which takes frames that don't depend on each other: add --engine "
        "quasistatic, or use --from and --to");
  if (options.from || options.to) return usage_error("--frames and --from or --to say the same twice; leave one out");
  return {};
}

Result<BakeSettings> bake_settings(const BakeOptions& options, const Recipe& recipe) {
  BakeSettings settings;
  settings.clips = options.clips;
  settings.rate = options.rate;
  settings.loops = options.loop == "all"    ? LoopChoice::all
                   : options.loop == "auto" ? LoopChoice::closing
                                            : LoopChoice::none;
  settings.simulate.damping_ratio = wanted_damping(recipe);
  settings.simulate.from = options.from.value_or(0);
  settings.simulate.to = options.to;
  if (!options.frames.empty()) {
    const Result<std::pair<Index, Index>> frames = frames_of(options.frames);
    SUPPLE_RETURN_IF_ERROR(frames);
    settings.frames = *frames;
  }
  settings.simulate.preroll = options.preroll;
  settings.simulate.parts = options.parts;
  settings.simulate.drag = options.drag.value_or(0);
  const Result<Vec3> gravity = vector_of("--gravity", options.gravity);
  SUPPLE_RETURN_IF_ERROR(gravity);
  const Result<Vec3> wind = vector_of("--wind", options.wind);
  SUPPLE_RETURN_IF_ERROR(wind);
  settings.simulate.gravity = *gravity;
  settings.simulate.wind = *wind;
  if (wind->norm() > 0 && !options.drag) settings.simulate.drag = 1;
  settings.output.helper_bones = options.helper_bones > 0;
  if (options.helper_bones > 0) settings.output.bones.most_bones = options.helper_bones;
  if (options.pack) settings.output.packing = GltfPacking::meshopt;
  constexpr double usual = 0.1, share_of_motion = 0.05;
  settings.output.compression.share_of_height = options.tolerance.value_or(usual) / 100;
  settings.output.bones.share_of_height = options.tolerance.value_or(usual) / 100;
  if (!options.tolerance) settings.share_of_motion = share_of_motion;
  settings.output.compression.most_targets = options.most_morphs;
  settings.output.storage = MorphStorage::small;
  if (options.format == "pc2") settings.format = BakeFormat::pc2;
  if (options.format == "mdd") settings.format = BakeFormat::mdd;
  if (options.format == "exr") settings.format = BakeFormat::exr;
  if (options.format == "png") settings.format = BakeFormat::png;
  return settings;
}

void add_bake_options(CLI::App& app, BakeOptions& options) {
  add_feel(app, options);
  add_motion(app, options);
  add_output(app, options);
  add_cache_option(app, options);
}

Result<CharacterSource> read_source(const BakeOptions& options, const std::string& input, Session& session) {
  session.progress.stage("reading the character");
  Result<CharacterSource> source = load_source(input, options.motions);
  if (source.ok()) source->recipe.apply(options);
  return source;
}

std::filesystem::path output_for(const BakeOptions& options, const std::string& input) {
  const std::filesystem::path stem = std::filesystem::path(input).stem();
  if (!options.format.empty() && options.format != "glb") return std::filesystem::path(options.output) / stem;
  return std::filesystem::path(options.output) / (stem.string() + "_soft.glb");
}

bool writes_caches(const BakeOptions& options) { return !options.format.empty() && options.format != "glb"; }

}  // namespace supple
