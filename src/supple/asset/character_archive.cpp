// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/character_archive.h"

#include "supple/asset/drive_archive.h"
#include "supple/asset/rig_archive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr std::string_view character_kind = "character";
constexpr double largest_short = 32767;
constexpr Index most_coordinates = 10'000, most_blocks = 100'000;

std::string block_name(std::string_view what, std::size_t block) { return std::string(what) + std::to_string(block); }

// ---- matrices of all poses ------------------------------------------------------------------------------------------

/// The columns of a block, over all poses.
struct StoredColumns {
  const ColumnSources& sources;
  Index poses;
  std::span<const Index> columns;

  std::vector<PoseColumn> own() const { return own_columns(sources, poses, columns); }
  Eigen::Index stored() const { return std::ssize(own()); }
};

/// What is each pose's own, one pose beside the other.
MatX side_by_side(const StoredColumns& block, const std::vector<MatX>& matrices) {
  const std::vector<PoseColumn> own = block.own();
  MatX all(matrices.empty() ? 0 : matrices.front().rows(), std::ssize(own));
  for (std::size_t k = 0; k < own.size(); ++k)
    all.col(static_cast<Eigen::Index>(k)) = matrices[to_size(own[k].pose)].col(own[k].column);
  return all;
}

std::vector<MatX> apart(const StoredColumns& block, const MatX& all) {
  std::vector<MatX> matrices(to_size(block.poses), MatX(all.rows(), std::ssize(block.columns)));
  const std::vector<PoseColumn> own = block.own();
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Index coordinate = block.columns[to_size(own[k].column)];
    for (Index pose = 0; pose < block.poses; ++pose)
      if (block.sources.of(pose, coordinate) == own[k].pose)
        matrices[to_size(pose)].col(own[k].column) = all.col(static_cast<Eigen::Index>(k));
  }
  return matrices;
}

StoredColumns stored_columns(const PoseSpaceModel& model, const VertexBlock& block) {
  return {model.sources, model.pose_count(), block.columns};
}
StoredColumns stored_columns(const PoseSpaceModel& model, const ElementBlock& block) {
  return {model.gradient_sources, model.pose_count(), block.columns};
}

void add_shorts(ArchiveWriter& writer, const std::string& name, const MatX& matrix) {
  MatXs shorts = MatXs::Zero(matrix.rows(), matrix.cols());
  Eigen::MatrixXf scales = Eigen::MatrixXf::Zero(1, matrix.cols());
  for (Eigen::Index c = 0; c < matrix.cols() && matrix.rows() > 0; ++c) {
    scales(c) = static_cast<float>(matrix.col(c).cwiseAbs().maxCoeff() / largest_short);
    if (!(scales(c) > 0)) continue;
    const double scale = scales(c);
    shorts.col(c) = matrix.col(c).unaryExpr([scale](double x) {
      return static_cast<std::int16_t>(std::clamp(std::round(x / scale), -largest_short, largest_short));
    });
  }
  writer.add_shorts(name, shorts);
  writer.add_singles(name + ".scales", scales);
}

MatX read_shorts(ArchiveReader& reader, const std::string& name, Eigen::Index rows, Eigen::Index columns) {
  const MatX scales = reader.singles(name + ".scales", 1, columns);
  const auto shorts = reader.archive().short_matrix(name);
  if (!shorts.ok())
    reader.note(shorts.error());
  else if (shorts->rows() != rows || shorts->cols() != columns)
    reader.misfit(name);
  if (!reader.ok()) return {};
  return shorts->cast<double>() * scales.row(0).asDiagonal();
}

/// Lower triangles of symmetric matrices, one per column.
void add_triangles(ArchiveWriter& writer, const std::string& name, const std::vector<MatX>& matrices, Index size) {
  Eigen::MatrixXf packed(size * (size + 1) / 2, std::ssize(matrices));
  for (Eigen::Index m = 0; m < packed.cols(); ++m) {
    const MatX& matrix = matrices[to_size(m)];
    Eigen::Index at = 0;
    for (Index c = 0; c < size; ++c)
      for (Index r = c; r < size; ++r) packed(at++, m) = static_cast<float>(matrix(r, c));
  }
  writer.add_singles(name, packed);
}

std::vector<MatX> read_triangles(ArchiveReader& reader, const std::string& name, Index size, Index most) {
  const MatX packed = reader.singles(name, Eigen::Index{size} * (size + 1) / 2, ArchiveReader::any);
  if (packed.cols() > most) reader.misfit(name);
  std::vector<MatX> matrices;
  for (Eigen::Index m = 0; m < packed.cols() && reader.ok(); ++m) {
    MatX& matrix = matrices.emplace_back(size, size);
    Eigen::Index at = 0;
    for (Index c = 0; c < size; ++c)
      for (Index r = c; r < size; ++r) matrix(r, c) = matrix(c, r) = packed(at++, m);
  }
  return matrices;
}

/// What a step multiplies w_i w_j with is symmetric: M_ij + M_ijᵀ. The loaded M_ij is half of that.
std::vector<MatX> symmetric_masses(const PoseSpaceModel& model) {
  std::vector<MatX> masses = model.mass;
  for (std::size_t i = 0, pair = 0; pair < masses.size(); ++i)
    for (std::size_t j = 0; j <= i && pair < masses.size(); ++j, ++pair)
      if (i != j) masses[pair] = (masses[pair] + masses[pair].transpose()).eval();
  return masses;
}

void halve_pairs(std::vector<MatX>& masses) {
  for (std::size_t i = 0, pair = 0; pair < masses.size(); ++i)
    for (std::size_t j = 0; j <= i && pair < masses.size(); ++j, ++pair)
      if (i != j) masses[pair] *= 0.5;
}

// ---- parts of the model ---------------------------------------------------------------------------------------------

void add_tets(ArchiveWriter& writer, const std::string& name, const std::vector<PosedTet>& tets) {
  std::vector<Index> points;
  MatX inverse_edges(9, std::ssize(tets));
  for (std::size_t t = 0; t < tets.size(); ++t) {
    points.insert(points.end(), tets[t].points.begin(), tets[t].points.end());
    inverse_edges.col(static_cast<Eigen::Index>(t)) = tets[t].inverse_edges.reshaped();
  }
  writer.add(name + ".points", points);
  writer.add(name + ".inverse_edges", inverse_edges);
}

std::vector<PosedTet> read_tets(ArchiveReader& reader, const std::string& name, Index points) {
  const std::vector<Index> corners = reader.indices(name + ".points", ArchiveReader::any, points, 4);
  const MatX inverse_edges = reader.matrix(name + ".inverse_edges", 9, std::ssize(corners) / 4);
  std::vector<PosedTet> tets(reader.ok() ? corners.size() / 4 : 0);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    std::copy_n(corners.begin() + static_cast<std::ptrdiff_t>(4 * t), 4, tets[t].points.begin());
    tets[t].inverse_edges = inverse_edges.col(static_cast<Eigen::Index>(t)).reshaped(3, 3);
  }
  return tets;
}

std::vector<Index> read_columns(ArchiveReader& reader, const std::string& name, Index size) {
  std::vector<Index> columns = reader.indices(name + ".columns", ArchiveReader::any, size);
  const auto ascends = [](Index a, Index b) { return a >= b; };
  if (std::adjacent_find(columns.begin(), columns.end(), ascends) != columns.end()) reader.misfit(name + ".columns");
  return columns;
}

void add_frames(ArchiveWriter& writer, const std::string& name, const std::vector<FrameBlend>& frames) {
  std::vector<Index> sites;
  Eigen::MatrixXf weights(FrameBlend::most, std::ssize(frames));
  for (std::size_t v = 0; v < frames.size(); ++v) {
    sites.insert(sites.end(), frames[v].site.begin(), frames[v].site.end());
    for (std::size_t k = 0; k < FrameBlend::most; ++k)
      weights(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(v)) = static_cast<float>(frames[v].weight[k]);
  }
  writer.add(name + ".sites", sites);
  writer.add_singles(name + ".site_weights", weights);
}

/// Pack4 places below `limit` and four weights for each of some vertices.
template <class Pack4, class Weights>
void read_fours(ArchiveReader& reader, const std::string& places_name, const std::string& weights_name, Index limit,
                std::vector<Pack4>& places, std::vector<Weights>& weights) {
  const std::vector<Index> all = reader.indices(places_name, ArchiveReader::any, limit, 4);
  const MatX numbers = reader.singles(weights_name, 4, std::ssize(all) / 4);
  const std::size_t count = reader.ok() ? all.size() / 4 : 0;
  places.resize(count);
  weights.resize(count);
  for (std::size_t v = 0; v < count; ++v) {
    for (std::size_t k = 0; k < 4; ++k) {
      places[v][k] = all[4 * v + k];
      weights[v][k] = numbers(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(v));
    }
  }
}

std::vector<FrameBlend> read_frames(ArchiveReader& reader, const std::string& name, Index sites) {
  std::vector<std::array<Index, FrameBlend::most>> places;
  std::vector<std::array<double, FrameBlend::most>> weights;
  read_fours(reader, name + ".sites", name + ".site_weights", std::max(sites, 1), places, weights);
  std::vector<FrameBlend> frames;
  for (std::size_t v = 0; v < places.size(); ++v) frames.push_back({places[v], weights[v]});
  return frames;
}

void add_corners(ArchiveWriter& writer, const std::string& name, const ElementBlock& block) {
  std::vector<FrameBlend> frames;
  for (const auto& corners : block.corners) frames.insert(frames.end(), corners.begin(), corners.end());
  add_frames(writer, name + ".corners", frames);
}

std::vector<std::array<FrameBlend, 4>> read_corners(ArchiveReader& reader, const std::string& name, std::size_t count,
                                                    Index sites) {
  const std::vector<FrameBlend> frames = read_frames(reader, name + ".corners", sites);
  std::vector<std::array<FrameBlend, 4>> corners(count);
  if (frames.size() != 4 * count) reader.misfit(name + ".corners.sites");
  for (std::size_t k = 0; reader.ok() && k < frames.size(); ++k) corners[k / 4][k % 4] = frames[k];
  return corners;
}

void add_elements(ArchiveWriter& writer, const std::string& name, const PoseSpaceModel& model,
                  const ElementBlock& block) {
  writer.add(name + ".columns", block.columns);
  add_tets(writer, name, block.tets);
  writer.add(name + ".weights", block.weights);
  writer.add(name + ".mu", block.mu);
  writer.add(name + ".lambda", block.lambda);
  writer.add_singles(name + ".gradients", side_by_side(stored_columns(model, block), block.gradients).cast<float>());
  if (model.exact_strain) add_corners(writer, name, block);
}

ElementBlock read_elements(ArchiveReader& reader, const std::string& name, const PoseSpaceModel& model, Index size) {
  const Index poses = model.pose_count();
  ElementBlock block;
  block.columns = read_columns(reader, name, size);
  block.tets = read_tets(reader, name, static_cast<Index>(model.points.size()));
  const auto count = std::ssize(block.tets);
  block.weights = reader.matrix(name + ".weights", count, poses);
  block.mu = reader.matrix(name + ".mu", count, poses);
  block.lambda = reader.matrix(name + ".lambda", count, poses);
  const MatX gradients =
      reader.singles(name + ".gradients", model.element_rows() * count, stored_columns(model, block).stored());
  if (model.exact_strain)
    block.corners = read_corners(reader, name, block.tets.size(), static_cast<Index>(model.sites.size()));
  if (reader.ok()) block.gradients = apart(stored_columns(model, block), gradients);
  return block;
}

void add_inertia(ArchiveWriter& writer, const std::string& name, const PoseSpaceModel& model,
                 const InertialBlock& block) {
  writer.add(name + ".columns", block.vertices.columns);
  add_frames(writer, name, block.vertices.frames);
  writer.add_singles(name + ".basis",
                     side_by_side(stored_columns(model, block.vertices), block.vertices.basis).cast<float>());
  writer.add(name + ".points", block.points);
  writer.add(name + ".weights", block.weights);
}

InertialBlock read_inertia(ArchiveReader& reader, const std::string& name, const PoseSpaceModel& model, Index size) {
  InertialBlock block;
  block.vertices.columns = read_columns(reader, name, size);
  block.vertices.frames = read_frames(reader, name, static_cast<Index>(model.sites.size()));
  const auto count = std::ssize(block.vertices.frames);
  const MatX basis = reader.singles(name + ".basis", 3 * count, stored_columns(model, block.vertices).stored());
  block.points = reader.indices(name + ".points", count, static_cast<Index>(model.points.size()));
  block.weights = reader.matrix(name + ".weights", count, 1);
  if (reader.ok()) block.vertices.basis = apart(stored_columns(model, block.vertices), basis);
  return block;
}

void add_surface(ArchiveWriter& writer, const PoseSpaceModel& model) {
  const SoftSurface& surface = model.surface;
  for (std::size_t b = 0; b < surface.blocks.size(); ++b) {
    const std::string name = block_name("surface", b);
    writer.add(name + ".columns", surface.blocks[b].columns);
    add_frames(writer, name, surface.blocks[b].frames);
    add_shorts(writer, name + ".basis",
               side_by_side(stored_columns(model, surface.blocks[b]), surface.blocks[b].basis));
  }
  std::vector<Index> vertices;
  Eigen::MatrixXf weights(SoftSurface::nodes, surface.vertex_count());
  for (std::size_t v = 0; v < surface.vertex.size(); ++v) {
    vertices.insert(vertices.end(), surface.vertex[v].begin(), surface.vertex[v].end());
    for (std::size_t k = 0; k < SoftSurface::nodes; ++k)
      weights(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(v)) = static_cast<float>(surface.weight[v][k]);
  }
  writer.add("surface.vertices", vertices);
  writer.add_singles("surface.weights", weights);
}

void read_surface(ArchiveReader& reader, Index blocks, Index size, PoseSpaceModel& model) {
  Index count = 0;
  for (Index b = 0; b < blocks && reader.ok(); ++b) {
    const std::string name = block_name("surface", to_size(b));
    VertexBlock block;
    block.columns = read_columns(reader, name, size);
    block.frames = read_frames(reader, name, static_cast<Index>(model.sites.size()));
    const MatX basis = read_shorts(reader, name + ".basis", 3 * Eigen::Index{block.vertex_count()},
                                   stored_columns(model, block).stored());
    if (reader.ok()) block.basis = apart(stored_columns(model, block), basis);
    count += block.vertex_count();
    model.surface.blocks.push_back(std::move(block));
  }
  read_fours(reader, "surface.vertices", "surface.weights", count, model.surface.vertex, model.surface.weight);
}

// ---- the whole model ------------------------------------------------------------------------------------------------

void add_sources(ArchiveWriter& writer, const std::string& name, const ColumnSources& sources) {
  std::vector<Index> all;
  for (const std::vector<Index>& pose : sources.poses) all.insert(all.end(), pose.begin(), pose.end());
  writer.add(name, all);
}

ColumnSources read_sources(ArchiveReader& reader, const std::string& name, Index poses, Index size) {
  const std::vector<Index> all = reader.indices(name, ArchiveReader::any, poses);
  ColumnSources sources;
  if (!reader.ok() || all.empty()) return sources;
  const auto width = to_size(size);
  bool sound = all.size() == to_size(poses) * width;
  for (std::size_t k = 0; sound && k < all.size(); ++k) sound = all[to_size(all[k]) * width + k % width] == all[k];
  if (!sound) reader.misfit(name);
  for (std::size_t first = 0; sound && first < all.size(); first += width)
    sources.poses.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(first),
                               all.begin() + static_cast<std::ptrdiff_t>(first + width));
  return sources;
}

Status add_model(ArchiveWriter& writer, const PoseSpaceModel& model) {
  // A member that is added to the model doesn't compile here before it has its place in the file.
  const auto& [rest, material, directions, exact_strain, poses, sources, gradient_sources, stiffness, linear,
               corrections, correction_poses, correction_limit, correction_reach, mass, points, sites, elements,
               inertia, surface, height] = model;
  SUPPLE_RETURN_IF_ERROR(RigArchive::write(writer, "rest", *rest, points));
  writer.add("material", to_string(material));
  writer.add_number("directions", static_cast<Index>(directions));
  writer.add_number("exact_strain", static_cast<Index>(exact_strain ? 1 : 0));
  writer.add_number("height", height);
  add_pose_weights(writer, "poses", poses);
  add_pose_weights(writer, "correction_poses", correction_poses);
  add_sources(writer, "sources", sources);
  add_sources(writer, "gradient_sources", gradient_sources);
  writer.add("stiffness", stiffness);
  add_triangles(writer, "corrections", corrections, model.size());
  writer.add_number("correction_limit", correction_limit);
  writer.add_number("correction_reach", correction_reach);
  add_triangles(writer, "linear", linear, model.size());
  add_triangles(writer, "mass", symmetric_masses(model), model.size());
  add_tets(writer, "frames", sites);
  const Index blocks[] = {static_cast<Index>(elements.size()), static_cast<Index>(inertia.size()),
                          static_cast<Index>(surface.blocks.size())};
  writer.add("blocks", std::span<const Index>(blocks));
  for (std::size_t b = 0; b < elements.size(); ++b) add_elements(writer, block_name("elements", b), model, elements[b]);
  for (std::size_t b = 0; b < inertia.size(); ++b) add_inertia(writer, block_name("inertia", b), model, inertia[b]);
  add_surface(writer, model);
  return {};
}

std::shared_ptr<const PoseSpaceModel> read_model(ArchiveReader& reader) {
  auto model = std::make_shared<PoseSpaceModel>();
  model->rest = RigArchive::read(reader, "rest");
  if (!model->rest) return {};
  const std::optional<MaterialModel> material = material_model_from(reader.text("material"));
  if (!material) reader.misfit("material");
  model->material = material.value_or(MaterialModel::flesh);
  model->directions = static_cast<BasisDirections>(reader.index("directions", 2));
  // Older files don't have it.
  if (reader.archive().has("exact_strain")) model->exact_strain = reader.index("exact_strain", 2) == 1;
  model->height = reader.number("height");
  model->poses = read_pose_weights(reader, "poses", model->rest->layout());
  model->correction_poses = read_pose_weights(reader, "correction_poses", model->rest->layout());
  model->stiffness = reader.matrix("stiffness", ArchiveReader::any, 1);
  const Index size = model->size(), poses = model->pose_count();
  if (size > most_coordinates) reader.misfit("stiffness");
  if (!(model->height > 0)) reader.misfit("height");
  if (!reader.ok()) return {};
  model->sources = read_sources(reader, "sources", poses, size);
  model->gradient_sources = read_sources(reader, "gradient_sources", poses, size);
  model->corrections = read_triangles(reader, "corrections", size, model->correction_pose_count());
  model->correction_limit = reader.number("correction_limit");
  if (!(model->correction_limit > 0)) reader.misfit("correction_limit");
  // Older files don't have it.
  if (reader.archive().has("correction_reach")) model->correction_reach = reader.number("correction_reach");
  if (!(model->correction_reach >= 0)) reader.misfit("correction_reach");
  model->linear = read_triangles(reader, "linear", size, model->exact_strain ? model->correction_pose_count() : poses);
  model->mass = read_triangles(reader, "mass", size, poses * (poses + 1) / 2);
  halve_pairs(model->mass);
  model->points.resize(to_size(model->rest->vertex_count()));
  std::iota(model->points.begin(), model->points.end(), 0);
  model->sites = read_tets(reader, "frames", static_cast<Index>(model->points.size()));
  const std::vector<Index> blocks = reader.indices("blocks", 3, most_blocks);
  if (!reader.ok()) return {};
  for (Index b = 0; b < blocks[0] && reader.ok(); ++b)
    model->elements.push_back(read_elements(reader, block_name("elements", to_size(b)), *model, size));
  for (Index b = 0; b < blocks[1] && reader.ok(); ++b)
    model->inertia.push_back(read_inertia(reader, block_name("inertia", to_size(b)), *model, size));
  read_surface(reader, blocks[2], size, *model);
  return model;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  return lines;
}

constexpr Eigen::Index pose_fact_rows = 6;
void add_pose_facts(ArchiveWriter& writer, const std::vector<PoseFacts>& poses) {
  MatX numbers(pose_fact_rows, std::ssize(poses));
  std::vector<std::string> names;
  for (const PoseFacts& pose : poses) {
    numbers.col(std::ssize(names)) << pose.parent, pose.angle, pose.largest_angle, pose.inverted_before, pose.inverted,
        pose.fit_error;
    names.push_back(pose.name);
    std::replace(names.back().begin(), names.back().end(), '\n', ' ');
  }
  writer.add("facts.poses", numbers);
  writer.add("facts.pose_names", std::string_view(joined(names)));
}

std::vector<PoseFacts> read_pose_facts(ArchiveReader& reader) {
  const MatX numbers = reader.matrix("facts.poses", pose_fact_rows, ArchiveReader::any);
  const std::vector<std::string> names = lines_of(reader.text("facts.pose_names"));
  std::vector<PoseFacts> poses;
  if (!reader.ok()) return poses;
  const bool sound = std::ssize(names) == numbers.cols() && (numbers.array().abs() < 1e9).all();
  if (!sound) reader.misfit("facts.pose_names");
  for (Eigen::Index i = 0; sound && i < numbers.cols(); ++i) {
    const auto n = numbers.col(i);
    poses.push_back(
        {names[to_size(i)], static_cast<int>(n[0]), n[1], n[2], static_cast<int>(n[3]), static_cast<int>(n[4]), n[5]});
    if (poses.back().parent >= std::ssize(names)) reader.misfit("facts.poses");
  }
  return poses;
}

void add_facts(ArchiveWriter& writer, const CharacterFacts& facts) {
  const Index counts[] = {facts.tets, facts.vertices, facts.held_vertices};
  writer.add("facts.counts", std::span<const Index>(counts));
  writer.add("facts.numbers",
             Eigen::Vector4d(facts.young, facts.elastic_error, facts.posed_error, facts.inertial_error));
  if (facts.estimated_error) writer.add_number("facts.estimated_error", *facts.estimated_error);
  writer.add("facts.frequencies", facts.frequencies);
  writer.add("facts.warnings", std::string_view(joined(facts.warnings)));
  add_pose_facts(writer, facts.poses);
}

CharacterFacts read_facts(ArchiveReader& reader) {
  CharacterFacts facts;
  const std::vector<Index> counts = reader.indices("facts.counts", 3, std::numeric_limits<Index>::max());
  const MatX numbers = reader.matrix("facts.numbers", 4, 1);
  facts.frequencies = reader.matrix("facts.frequencies", ArchiveReader::any, 1);
  if (reader.archive().has("facts.estimated_error")) facts.estimated_error = reader.number("facts.estimated_error");
  facts.warnings = lines_of(reader.text("facts.warnings"));
  facts.poses = read_pose_facts(reader);
  if (!reader.ok()) return facts;
  facts.tets = counts[0];
  facts.vertices = counts[1];
  facts.held_vertices = counts[2];
  facts.young = numbers(0);
  facts.elastic_error = numbers(1);
  facts.posed_error = numbers(2);
  facts.inertial_error = numbers(3);
  return facts;
}

/// Whether joints give the model the parameters it knows, and it gives displacements to the surface they move.
bool fits(const CharacterDrive& drive, const PoseSpaceModel& model) {
  return drive.rig.rig()->layout().size() == model.rest->layout().size() &&
         drive.rig.rig()->vertex_count() == model.surface.vertex_count();
}

}  // namespace

Result<std::string> encode_character(const CharacterAsset& asset) {
  ArchiveWriter writer(character_kind);
  writer.add("name", std::string_view(asset.name));
  writer.add_number("flesh_frequency", asset.flesh_frequency);
  writer.add_number("damping", asset.damping);
  writer.add_number("most_acceleration", asset.most_acceleration);
  writer.add_number("gain", asset.gain);
  writer.add_number("exaggeration", asset.exaggeration);
  SUPPLE_RETURN_IF_ERROR(add_model(writer, *asset.model));
  add_facts(writer, asset.facts);
  add_made_for(writer, asset.made_for);
  if (asset.drive) SUPPLE_RETURN_IF_ERROR(DriveArchive::write(writer, *asset.drive));
  return writer.bytes();
}

Result<CharacterAsset> decode_character(const Archive& archive) {
  if (archive.kind() != character_kind)
    return input_error("the asset holds a \"" + archive.kind() + "\", not a character");
  ArchiveReader reader(archive);
  CharacterAsset asset;
  asset.name = reader.text("name");
  asset.flesh_frequency = reader.number("flesh_frequency");
  asset.damping = reader.number("damping");
  // Archives of earlier versions have no limit.
  if (archive.has("most_acceleration")) {
    asset.most_acceleration = reader.number("most_acceleration");
    asset.gain = reader.number("gain");
  }
  if (archive.has("exaggeration")) asset.exaggeration = reader.number("exaggeration");
  if (!(asset.most_acceleration >= 0) || !(asset.gain >= 0)) reader.misfit("most_acceleration");
  if (!(asset.exaggeration >= 0)) reader.misfit("exaggeration");
  if (asset.flesh_frequency < 0 || asset.damping < 0) reader.misfit("damping");
  asset.facts = read_facts(reader);
  asset.made_for = read_made_for(archive, reader);
  asset.model = read_model(reader);
  if (reader.ok() && DriveArchive::present(archive)) asset.drive = DriveArchive::read(reader);
  if (reader.ok() && asset.drive && !fits(*asset.drive, *asset.model)) reader.misfit("drive.rig");
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return asset;
}

Result<CharacterAsset> load_character_asset(const std::filesystem::path& path) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  Result<CharacterAsset> asset = decode_character(*archive);
  if (!asset.ok()) return Error{asset.error().kind, path.string() + ": " + asset.error().message};
  return asset;
}

}  // namespace supple
