// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/stage_archives.h"

#include "supple/asset/archive_reader.h"
#include "supple/asset/rig_archive.h"

#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr Index no_limit = std::numeric_limits<Index>::max();

/// `read(reader)` of an archive of that kind.
template <class Read>
auto decode(const std::string& bytes, std::string_view kind, Read&& read)
    -> Result<decltype(read(std::declval<ArchiveReader&>()))> {
  const Result<Archive> archive = Archive::parse(std::as_bytes(std::span(bytes)), "the cache");
  SUPPLE_RETURN_IF_ERROR(archive);
  if (archive->kind() != kind) return input_error("the cache holds a \"" + archive->kind() + "\"");
  ArchiveReader reader(*archive);
  auto value = read(reader);
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return value;
}

void add_cubature(ArchiveWriter& writer, const std::string& name, const Cubature& cubature) {
  writer.add(name + ".sites", cubature.sites);
  writer.add(name + ".weights", cubature.weights);
  writer.add(name + ".error", MatX::Constant(1, 1, cubature.training_error));
}

Cubature read_cubature(ArchiveReader& reader, const std::string& name) {
  Cubature cubature;
  cubature.sites = reader.indices(name + ".sites", ArchiveReader::any, no_limit);
  cubature.weights = reader.matrix(name + ".weights", std::ssize(cubature.sites), 1);
  cubature.training_error = reader.number(name + ".error");
  return cubature;
}

std::string element_name(std::size_t pose) { return "elements" + std::to_string(pose); }

/// The report's numbers in one row, there and back.
template <class Report>
auto numbers_of(Report& r) {
  return std::tie(r.cube, r.diagonal, r.min_dihedral, r.max_dihedral, r.volume, r.skin_to_input.mean,
                  r.skin_to_input.max, r.input_to_skin.mean, r.input_to_skin.max);
}
template <class Report>
auto counts_of(Report& r) {
  return std::tie(r.tries, r.input_pieces, r.specks, r.pieces, r.dropped_triangles, r.turned_triangles, r.thin_nodes);
}
constexpr int number_count = 9, count_count = 7;

void add_matrices(ArchiveWriter& writer, const std::string& name, const std::vector<MatX>& matrices) {
  const auto count = static_cast<Index>(matrices.size());
  writer.add(name, std::span<const Index>(&count, 1));
  for (std::size_t i = 0; i < matrices.size(); ++i) writer.add(name + std::to_string(i), matrices[i]);
}

std::vector<MatX> read_matrices(ArchiveReader& reader, const std::string& name) {
  std::vector<MatX> matrices;
  const Index count = reader.index(name, no_limit);
  for (Index i = 0; i < count && reader.ok(); ++i)
    matrices.push_back(reader.matrix(name + std::to_string(i), ArchiveReader::any, ArchiveReader::any));
  return matrices;
}

}  // namespace

std::string encode_stage(const TetMeshingResult& meshed) {
  ArchiveWriter writer("stage-tets");
  writer.add("vertices", columns_of(meshed.mesh.vertices));
  std::vector<Index> corners;
  for (const auto& element : meshed.mesh.elements) corners.insert(corners.end(), element.begin(), element.end());
  writer.add("elements", corners);
  std::apply(
      [&](const auto&... values) { writer.add("numbers", VecX(Eigen::Matrix<double, number_count, 1>(values...))); },
      numbers_of(meshed.report));
  std::apply(
      [&](const auto&... values) {
        const Index counts[] = {static_cast<Index>(values)...};
        writer.add("counts", std::span<const Index>(counts));
      },
      counts_of(meshed.report));
  return writer.bytes();
}

Result<TetMeshingResult> decode_meshing(const std::string& bytes) {
  return decode(bytes, "stage-tets", [](ArchiveReader& reader) {
    TetMeshingResult meshed;
    meshed.mesh.vertices = reader.points("vertices", ArchiveReader::any);
    const std::vector<Index> corners =
        reader.indices("elements", ArchiveReader::any, static_cast<Index>(meshed.mesh.vertices.size()), 4);
    for (std::size_t k = 0; k + 3 < corners.size(); k += 4)
      meshed.mesh.elements.push_back({corners[k], corners[k + 1], corners[k + 2], corners[k + 3]});
    const MatX numbers = reader.matrix("numbers", number_count, 1);
    const std::vector<Index> counts = reader.indices("counts", count_count, no_limit);
    if (!reader.ok()) return meshed;
    Eigen::Index n = 0;
    std::apply([&](auto&... values) { ((values = numbers(n++)), ...); }, numbers_of(meshed.report));
    std::size_t c = 0;
    std::apply([&](auto&... values) { ((values = counts[c++]), ...); }, counts_of(meshed.report));
    return meshed;
  });
}

std::string encode_stage(std::span<const MatX> matrices) {
  ArchiveWriter writer("stage-matrices");
  const auto count = static_cast<Index>(matrices.size());
  writer.add("count", std::span<const Index>(&count, 1));
  for (std::size_t k = 0; k < matrices.size(); ++k) writer.add("matrix" + std::to_string(k), matrices[k]);
  return writer.bytes();
}

Result<std::vector<MatX>> decode_matrices(const std::string& bytes) {
  return decode(bytes, "stage-matrices", [](ArchiveReader& reader) {
    std::vector<MatX> matrices;
    const Index count = reader.index("count", no_limit);
    for (Index k = 0; k < count && reader.ok(); ++k)
      matrices.push_back(reader.matrix("matrix" + std::to_string(k), ArchiveReader::any, ArchiveReader::any));
    return matrices;
  });
}

std::string encode_stage(const PoseCubature& cubature) {
  const auto& [elements, vertices, corrections, linear, between, correction_limit, correction_reach, elastic_error,
               posed_error, worst_posed_error, inertial_error, elastic_training_error] = cubature;
  ArchiveWriter writer("stage-cubature");
  const auto poses = static_cast<Index>(elements.size());
  writer.add("poses", std::span<const Index>(&poses, 1));
  for (std::size_t i = 0; i < elements.size(); ++i) add_cubature(writer, element_name(i), elements[i]);
  add_cubature(writer, "vertices", vertices);
  add_matrices(writer, "corrections", corrections);
  add_matrices(writer, "linear", linear);
  writer.add("between", between);
  VecX numbers(7);
  numbers << correction_limit, elastic_error, posed_error, worst_posed_error, inertial_error, elastic_training_error,
      correction_reach;
  writer.add("numbers", numbers);
  return writer.bytes();
}

Result<PoseCubature> decode_cubature(const std::string& bytes) {
  return decode(bytes, "stage-cubature", [](ArchiveReader& reader) {
    PoseCubature cubature;
    const Index poses = reader.index("poses", no_limit);
    for (Index i = 0; i < poses && reader.ok(); ++i)
      cubature.elements.push_back(read_cubature(reader, element_name(to_size(i))));
    cubature.vertices = read_cubature(reader, "vertices");
    cubature.corrections = read_matrices(reader, "corrections");
    cubature.linear = read_matrices(reader, "linear");
    cubature.between = reader.matrix("between", ArchiveReader::any, ArchiveReader::any);
    const MatX numbers = reader.matrix("numbers", 7, 1);
    if (!reader.ok()) return cubature;
    cubature.correction_limit = numbers(0);
    cubature.elastic_error = numbers(1);
    cubature.posed_error = numbers(2);
    cubature.worst_posed_error = numbers(3);
    cubature.inertial_error = numbers(4);
    cubature.elastic_training_error = numbers(5);
    cubature.correction_reach = numbers(6);
    return cubature;
  });
}

void add_content(ContentHash& content, const Surface& surface) { content.add(surface.vertices).add(surface.triangles); }

void add_content(ContentHash& content, std::span<const ElasticMaterial> materials) {
  content.add(materials.size());
  for (const ElasticMaterial& material : materials)
    content.add(material.young).add(material.poisson).add(material.density);
}

void add_content(ContentHash& content, const TetMesh& mesh) {
  content.add(mesh.vertices).add(mesh.elements).add(mesh.element_material);
  add_content(content, mesh.materials);
}

bool add_content(ContentHash& content, const Rig& rig) {
  ArchiveWriter writer("rig");
  if (!RigArchive::write(writer, "rig", rig).ok()) return false;
  content.add(std::string_view(writer.bytes()));
  return true;
}

}  // namespace supple
