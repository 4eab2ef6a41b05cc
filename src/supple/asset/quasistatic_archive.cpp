// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/quasistatic_archive.h"

#include "supple/asset/rig_archive.h"
#include "supple/asset/soft_mesh_archive.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

constexpr std::string_view quasistatic_kind = "quasistatic";

std::vector<Index> all_vertices_of(const Rig& rig) {
  std::vector<Index> all(to_size(rig.vertex_count()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TurnBlends read_blends(ArchiveReader& reader, Index vertices, Index sites) {
  TurnBlends blends;
  blends.site = reader.indices("turns.site", ArchiveReader::any, sites);
  const auto count = static_cast<Index>(blends.site.size());
  blends.first = reader.indices("turns.first", Eigen::Index{vertices} + 1, count + 1);
  const MatX weights = reader.matrix("turns.weight", count, 1);
  if (!reader.ok()) return {};
  const bool rising =
      std::adjacent_find(blends.first.begin(), blends.first.end(), std::greater_equal<>()) == blends.first.end();
  if (!rising || blends.first.front() != 0 || blends.first.back() != count) reader.misfit("turns.first");
  if (!(weights.array() >= 0).all()) reader.misfit("turns.weight");
  blends.weight.assign(weights.data(), weights.data() + weights.size());
  return blends;
}

}  // namespace

Result<std::string> encode_quasistatic_model(const QuasistaticModel& model) {
  ArchiveWriter writer(quasistatic_kind);
  writer.add("name", std::string_view(model.name));
  writer.add_number("extent", model.extent);
  add_soft_mesh(writer, model.mesh, model.fixed);
  SUPPLE_RETURN_IF_ERROR(RigArchive::write(writer, "rest", *model.rest, all_vertices_of(*model.rest)));
  SUPPLE_RETURN_IF_ERROR(RigArchive::write(writer, "turns", *model.turns, all_vertices_of(*model.turns)));
  writer.add("turns.first", model.blends.first);
  writer.add("turns.site", model.blends.site);
  writer.add("turns.weight", MatX(Eigen::Map<const VecX>(model.blends.weight.data(), std::ssize(model.blends.weight))));
  add_hanging_skin(writer, model.surface_vertex, model.surface_weight);
  add_sentences(writer, "warnings", model.warnings);
  add_made_for(writer, model.made_for);
  return writer.bytes();
}

Result<QuasistaticModel> decode_quasistatic_model(const Archive& archive) {
  if (archive.kind() != quasistatic_kind)
    return input_error("the asset holds a \"" + archive.kind() + "\", not quasistatic flesh");
  ArchiveReader reader(archive);
  QuasistaticModel model;
  model.name = reader.text("name");
  model.extent = reader.number("extent");
  if (!(model.extent > 0)) reader.misfit("extent");
  read_soft_mesh(reader, model.mesh, model.fixed);
  if (reader.ok()) model.rest = RigArchive::read(reader, "rest");
  if (reader.ok()) model.turns = RigArchive::read(reader, "turns");
  if (reader.ok() && model.rest->vertex_count() != model.vertex_count()) reader.misfit("rest");
  if (reader.ok() &&
      (model.turns->vertex_count() % 4 != 0 || model.turns->layout().size() != model.rest->layout().size()))
    reader.misfit("turns");
  if (reader.ok()) model.blends = read_blends(reader, model.vertex_count(), model.site_count());
  read_hanging_skin(reader, model.vertex_count(), model.surface_vertex, model.surface_weight);
  model.warnings = read_sentences(reader, "warnings");
  model.made_for = read_made_for(archive, reader);
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return model;
}

}  // namespace supple
