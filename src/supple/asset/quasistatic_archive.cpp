// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/quasistatic_archive.h"

#include "supple/asset/rig_archive.h"
#include "supple/asset/soft_mesh_archive.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::string_view quasistatic_kind = "quasistatic";

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
  SUPPLE_RETURN_IF_ERROR(add_whole_mesh(writer, model));
  SUPPLE_RETURN_IF_ERROR(RigArchive::write(writer, "turns", *model.turns));
  writer.add("turns.first", model.blends.first);
  writer.add("turns.site", model.blends.site);
  writer.add("turns.weight", MatX(Eigen::Map<const VecX>(model.blends.weight.data(), std::ssize(model.blends.weight))));
  return writer.bytes();
}

Result<QuasistaticModel> decode_quasistatic_model(const Archive& archive) {
  if (archive.kind() != quasistatic_kind)
    return input_error("the asset holds a \"" + archive.kind() + "\", not quasistatic flesh");
  ArchiveReader reader(archive);
  QuasistaticModel model;
  read_whole_mesh(archive, reader, model);
  if (reader.ok()) model.turns = RigArchive::read(reader, "turns");
  if (reader.ok() &&
      (model.turns->vertex_count() % 4 != 0 || model.turns->layout().size() != model.rest->layout().size()))
    reader.misfit("turns");
  if (reader.ok()) model.blends = read_blends(reader, model.vertex_count(), model.site_count());
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return model;
}

}  // namespace supple
