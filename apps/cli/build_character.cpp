// SPDX-License-Identifier: Apache-2.0
#include "build_character.h"

#include "character_recipe.h"
#include "pose_report.h"
#include "supple/asset/character_archive.h"
#include "supple/io/file.h"
#include "supple/io/file_kind.h"
#include "supple/pipeline/character/soft_character.h"

namespace supple {
namespace {

void tell(const std::string& input, const std::string& output, const SoftCharacter& soft, std::size_t bytes,
          Session& session) {
  const PoseSpaceModel& model = *soft.asset.model;
  const CharacterFacts& facts = soft.asset.facts;
  session.line("{}", input);
  session.line("body          {} tetrahedra, {} of {} vertices held by bones", facts.tets, facts.held_vertices,
               facts.vertices);
  session.line("flesh         {} coordinates around {}, sways at {:.3g} Hz", model.size(),
               counted(to_size(model.pose_count()), "pose", "poses"), soft.asset.flesh_frequency);
  for (const std::string& line : pose_lines(facts)) session.line("pose          {}", line);
  session.line("cubature      {} elements, {:.1f} % off on unseen samples; {} vertices, {:.1f} %",
               model.element_count(), 100 * facts.elastic_error, model.inertial_vertex_count(),
               100 * facts.inertial_error);
  session.line("time          reading {:.2f} s, body {:.2f} s, reduction {:.2f} s", soft.seconds.read,
               soft.seconds.embed, soft.seconds.reduce);
  session.line("written       {} ({:.2f} MB)", output, static_cast<double>(bytes) / 1e6);
}

void fill(const std::string& input, const std::string& output, const SoftCharacter& soft, std::size_t bytes,
          Json& out) {
  const PoseSpaceModel& model = *soft.asset.model;
  const CharacterFacts& facts = soft.asset.facts;
  out["input"] = input;
  out["asset"] = output;
  out["coordinates"] = model.size();
  out["poses"] = model.pose_count();
  out["pose_list"] = poses_json(facts);
  out["tets"] = facts.tets;
  out["vertices"] = facts.vertices;
  out["held_vertices"] = facts.held_vertices;
  out["surface_vertices"] = model.surface.vertex_count();
  out["frequency_hz"] = soft.asset.flesh_frequency;
  out["young_pa"] = facts.young;
  out["cubature"] = {{"elements", model.element_count()},
                     {"elastic_error", facts.elastic_error},
                     {"vertices", model.inertial_vertex_count()},
                     {"inertial_error", facts.inertial_error}};
  out["bytes"] = bytes;
  out["timing"] = {{"read_s", soft.seconds.read}, {"embed_s", soft.seconds.embed}, {"reduce_s", soft.seconds.reduce}};
}

}  // namespace

bool is_character(const std::string& input) {
  if (std::filesystem::path(input).extension() == ".toml") {
    const Result<std::string> text = read_file(input);
    return text.ok() && looks_like_recipe(*text);
  }
  if (kind_of_extension(input) != FileKind::gltf) return false;
  const Result<LoadedCharacter> loaded = load_character(input);
  return loaded.ok() && !loaded->character.skins.empty();
}

Status build_character_asset(const std::string& input, const std::string& output, const CharacterOptions& options,
                             Session& session) {
  Result<CharacterJob> job = job_for(input);
  if (!job.ok()) return about(input, job.error());
  options.apply(job->recipe);
  const std::unique_ptr<BuildCache> cache = options.cache();
  const Result<SoftCharacter> soft =
      make_soft_character(job->recipe, job->folder, session.progress, cache ? *cache : StageStore::none());
  if (!soft.ok()) return about(input, soft.error());
  const Result<std::string> bytes = encode_character(soft->asset);
  if (!bytes.ok()) return about(input, bytes.error());
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(output, *bytes));
  session.warnings = soft->character().warnings;
  session.warnings.insert(session.warnings.end(), soft->asset.facts.warnings.begin(), soft->asset.facts.warnings.end());
  tell(input, output, *soft, bytes->size(), session);
  tell_cache(cache.get(), session);
  fill(input, output, *soft, bytes->size(), session.result);
  session.result["cache"] = cache_json(cache.get());
  return {};
}

}  // namespace supple
