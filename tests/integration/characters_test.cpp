// SPDX-License-Identifier: Apache-2.0
// Walks every rigged character of the shared assets down the road so far: import, rig, tetrahedra, bones, and the rest
// shape at the most bent frame of its clips. Prints a line each. Ordinarily the three clips that bend farthest are
// fitted, on bodies of 2000 tetrahedra; SUPPLE_ALL_CLIPS=1 takes all clips and 4000 (seven minutes).
#include "supple/base/parallel.h"
#include "supple/io/gltf/read_character.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/offline/fitting/embedded_body.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace supple::characters_test {
namespace {

const std::filesystem::path rigged = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged";

std::vector<std::filesystem::path> character_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(rigged)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".glb" || extension == ".gltf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

bool all_clips() { return std::getenv("SUPPLE_ALL_CLIPS") != nullptr; }

struct BentFrame {
  double distance = -1;
  std::vector<double> p;
};

/// Of 30 moments of the clip, the one farthest from the neutral pose.
BentFrame most_bent(const CharacterRig& rig, const Clip& clip) {
  CharacterPose pose = rig.neutral();
  BentFrame best;
  for (int k = 0; k < 30; ++k) {
    rig.sample(clip, clip.duration * k / 29, ClipWrap::hold, pose);
    const double distance = pose_distance(rig.rig()->layout(), pose.p, rig.rig()->layout().neutral);
    if (distance > best.distance) best = {distance, pose.p};
  }
  return best;
}

/// Farthest first.
std::vector<BentFrame> bent_frames(const RawCharacter& character, const CharacterRig& rig) {
  std::vector<BentFrame> frames;
  for (const Clip& clip : character.clips) frames.push_back(most_bent(rig, clip));
  std::stable_sort(frames.begin(), frames.end(),
                   [](const BentFrame& a, const BentFrame& b) { return a.distance > b.distance; });
  if (!all_clips() && frames.size() > 3) frames.resize(3);
  return frames;
}

struct Line {
  std::size_t fits = 0;
  double fit_error = 0;
  int inverted = 0;
  int unconverged = 0;
};

/// Fits every frame by itself: this is about the fit, not about interpolating between poses.
Line fit_frames(const std::vector<BentFrame>& frames, const CharacterRig& rig, const EmbeddedBody& body) {
  Line line;
  const CarriedRig carried(rig.rig(), body.carry, body.mesh.vertices);
  const Embedding reproducing = embed(body.mesh, body.skin.vertices).value();
  RestShapeFitter fitter = RestShapeFitter::create(body.mesh, body.skin, reproducing).value();
  for (const BentFrame& frame : frames) {
    const FittedShape fitted = fitter.fit(evaluate_all(*rig.rig(), frame.p), evaluate_all(carried, frame.p));
    ++line.fits;
    line.fit_error = std::max(line.fit_error, fitted.report.mean_error);
    line.inverted += fitted.report.inverted;
    line.unconverged += fitted.report.converged ? 0 : 1;
  }
  return line;
}

/// What there is to print about a character; faults are reported where they are found.
std::string walk(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const auto start = std::chrono::steady_clock::now();
  const Result<GltfDocument> document = load_gltf(file);
  if (!document.ok()) {
    ADD_FAILURE() << document.error().message;
    return {};
  }
  const Result<RawCharacter> character = read_character(*document);
  // Files with morph targets only, or without a skin: not a rigged character, and that is said.
  if (!character.ok()) return fmt::format("{:<24} refused: {}\n", name, character.error().message);
  const Result<CharacterRig> rig = CharacterRig::create(*character);
  EmbedSettings settings;
  settings.meshing.tets = all_clips() ? 4000 : 2000;
  const Result<EmbeddedBody> body = rig.ok() ? embed_character(*character, *rig, settings) : rig.error();
  if (!body.ok()) {
    ADD_FAILURE() << name << ": " << body.error().message;
    return {};
  }
  const QualityReport shape = quality(body->mesh);
  EXPECT_EQ(shape.inverted, 0) << name;
  EXPECT_GE(shape.dihedral.min, 10) << name;
  EXPECT_TRUE(surface_topology(boundary_surface(body->mesh).surface).watertight()) << name;
  EXPECT_NEAR(shape.elements, settings.meshing.tets, 0.15 * settings.meshing.tets) << name;
  EXPECT_FALSE(body->fixed_vertices.empty()) << name;
  EXPECT_LT(body->fixed_vertices.size(), body->mesh.vertices.size()) << name;
  const Line line = fit_frames(bent_frames(*character, *rig), *rig, *body);
  EXPECT_EQ(line.inverted, 0) << name;
  EXPECT_LT(line.fit_error, 0.015) << name;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return fmt::format(
      "{:<24} {:>5} vertices {:>3} joints {:>2} clips {:>5} tets {:4.1f}° distance mean {:.2f} % max {:.1f} % fixed "
      "{:2.0f} % fit {:.3f} % ({} frames) inverted {} unconverged {} {:5.1f} s {:4.0f} MiB\n",
      name, body->skin.vertices.size(), character->skeleton.size(), character->clips.size(), shape.elements,
      shape.dihedral.min, 100 * body->meshing.skin_to_input.mean / body->meshing.diagonal,
      100 * body->meshing.relative_distance(),
      100.0 * static_cast<double>(body->fixed_vertices.size()) / static_cast<double>(body->mesh.vertices.size()),
      100 * line.fit_error, line.fits, line.inverted, line.unconverged, seconds, peak_memory_mib());
}

TEST(Characters, EveryRiggedCharacterGetsABody) {
  if (!std::filesystem::exists(rigged)) GTEST_SKIP() << "no asset collection at " << rigged;
  const std::vector<std::filesystem::path> files = character_files();
  std::vector<std::string> lines(files.size());
  parallel_for(static_cast<std::int64_t>(files.size()), 1, [&](std::int64_t k) {
    const auto index = to_size(k);
    lines[index] = walk(files[index]);
  });
  for (const std::string& line : lines) fmt::print("{}", line);
}

}  // namespace
}  // namespace supple::characters_test
