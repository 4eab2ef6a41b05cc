// SPDX-License-Identifier: Apache-2.0
// supple_gallery: pictures of characters before and after baking.
#include "film.h"
#include "gallery.h"
#include "preview.h"
#include "supple/base/exit_code.h"
#include "supple/io/image/png.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>

namespace supple {
namespace {

struct SheetOptions {
  std::string pairs, output = "sheet.png";
  GallerySettings settings;
};

struct PreviewOptions {
  std::vector<std::string> files;
  std::string output = "preview.png";
  bool without_map = false;
  std::string view;
  std::optional<double> at;
  PreviewSettings settings;
};

int exit_code(const Status& status) {
  if (status.ok()) return 0;
  fmt::print(stderr, "supple_gallery: {}\n", status.error().message);
  return exit_code_of(status.error());
}

void tell_row(const GalleryRow& row) {
  if (row.fault.empty())
    fmt::print("{:<22} {:>7.3f} % of the height in {} at {:.2f} s\n", row.name, 100 * row.largest, row.clip, row.time);
  else
    fmt::print("{:<22} {}\n", row.name, row.fault);
  std::fflush(stdout);
}

Status run_sheet(const SheetOptions& options) {
  const Result<std::vector<GalleryPair>> pairs = read_pairs(options.pairs);
  SUPPLE_RETURN_IF_ERROR(pairs);
  Result<Offscreen> offscreen = Offscreen::create();
  SUPPLE_RETURN_IF_ERROR(offscreen);
  const Result<Gallery> gallery = make_gallery(*offscreen, *pairs, options.settings, tell_row);
  SUPPLE_RETURN_IF_ERROR(gallery);
  SUPPLE_RETURN_IF_ERROR(write_png(options.output, gallery->sheet));
  fmt::print("{}: {} x {} pixels, drawn by {}\n", options.output, gallery->sheet.width, gallery->sheet.height,
             offscreen->driver());
  const auto faults = std::count_if(gallery->rows.begin(), gallery->rows.end(),
                                    [](const GalleryRow& row) { return !row.fault.empty(); });
  if (faults == 0) return {};
  return input_error(
      fmt::format("{} of {} characters could not be compared; the lines above say why.", faults, gallery->rows.size()));
}

Status run_preview(const PreviewOptions& options) {
  SUPPLE_RETURN_IF_ERROR(check_film(options.output));
  const Result<Vec3> from = view_from(options.view);
  SUPPLE_RETURN_IF_ERROR(from);
  const std::string& baked = options.files.back();
  Result<PlayedCharacter> rigid =
      options.files.size() == 2 ? PlayedCharacter::load(options.files.front()) : PlayedCharacter::load_rigid(baked);
  SUPPLE_RETURN_IF_ERROR(rigid);
  Result<PlayedCharacter> soft = PlayedCharacter::load(baked);
  SUPPLE_RETURN_IF_ERROR(soft);
  const Result<Comparison> both = Comparison::create(std::move(*rigid), std::move(*soft));
  SUPPLE_RETURN_IF_ERROR(both);
  Result<Offscreen> offscreen = Offscreen::create();
  SUPPLE_RETURN_IF_ERROR(offscreen);
  PreviewSettings settings = options.settings;
  settings.map = !options.without_map;
  settings.from = *from;
  settings.at = options.at;
  const Result<Preview> preview = make_preview(*offscreen, *both, settings, [](std::size_t, std::size_t) {});
  SUPPLE_RETURN_IF_ERROR(preview);
  SUPPLE_RETURN_IF_ERROR(write_film(options.output, preview->frames, options.settings.frame_rate));
  fmt::print("{}: {} frames of clip {}, in which softness moves the skin by {:.2f} % of the height at most\n",
             options.output, preview->frames.size(), preview->clip, 100 * preview->largest);
  return {};
}

int run_list(const std::string& folder) {
  for (const auto& file : animated_characters(folder)) fmt::print("{}\n", file.string());
  return 0;
}

void add_sheet_options(CLI::App& sheet, SheetOptions& options) {
  sheet
      .add_option("pairs", options.pairs,
                  "A text file, a line for each character: NAME, RIGID.glb, SOFT.glb, tabs between")
      ->required()
      ->type_name("PAIRS.tsv");
  sheet.add_option("-o,--output", options.output, "The picture to write")->type_name("FILE.png")->capture_default_str();
  sheet.add_option("--width", options.settings.width, "Of each panel in pixels")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  sheet.add_option("--height", options.settings.height, "Of each panel in pixels")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  sheet.add_option("--per-row", options.settings.characters_per_row, "Characters beside each other")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
}

void add_preview_options(CLI::App& preview, PreviewOptions& options) {
  preview.add_option("files", options.files, "A baked character; or the character as it was, and baked")
      ->required()
      ->expected(1, 2)
      ->type_name("[IN.glb] SOFT.glb");
  preview.add_option("-o,--output", options.output, "The film to write: an animated PNG; or .webp or .mp4, by ffmpeg")
      ->type_name("FILE")
      ->capture_default_str();
  preview.add_option("--clip", options.settings.clip,
                     "The clip to show; otherwise the one with the largest displacement");
  preview.add_option("--width", options.settings.width, "Of each of the pictures in pixels")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  preview.add_option("--height", options.settings.height, "In pixels")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  preview.add_option("--view", options.view, "front, side, back, three-quarter, or AZIMUTH,ELEVATION in degrees");
  preview.add_option("--at", options.at, "One picture, at this time of the clip in seconds")
      ->check(CLI::Range(0.0, 1e6));
  preview.add_flag("--no-map", options.without_map,
                   "Rigid beside soft alone, without the map of how far skin is moved");
  preview.add_option("--fps", options.settings.frame_rate, "Frames per second")
      ->check(CLI::Range(1.0, 120.0))
      ->capture_default_str();
  preview.add_option("--seconds", options.settings.seconds, "Show no more than this")
      ->check(CLI::Range(0.1, 60.0))
      ->capture_default_str();
}

int run(int argc, char** argv) {
  CLI::App app("Pictures of characters before and after baking, drawn without a screen.", "supple_gallery");
  app.require_subcommand(1);
  SheetOptions sheet_options;
  PreviewOptions preview_options;
  std::string folder;
  CLI::App* sheet =
      app.add_subcommand("sheet", "Rigid, soft, and soft in the colours of its displacement, on one page");
  CLI::App* preview = app.add_subcommand("preview", "A clip, rigid beside soft, and where it gives, as a film");
  CLI::App* list = app.add_subcommand("list", "The files below a folder that have a skin and clips");
  add_sheet_options(*sheet, sheet_options);
  add_preview_options(*preview, preview_options);
  list->add_option("folder", folder, "Where to look")->required()->type_name("FOLDER");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  if (sheet->parsed()) return exit_code(run_sheet(sheet_options));
  if (preview->parsed()) return exit_code(run_preview(preview_options));
  return run_list(folder);
}

}  // namespace
}  // namespace supple

int main(int argc, char** argv) { return supple::run(argc, argv); }
