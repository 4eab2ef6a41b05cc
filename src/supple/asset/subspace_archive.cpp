// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/subspace_archive.h"

namespace supple {
namespace {

constexpr std::string_view kind = "subspace";

std::string group_name(std::size_t group, std::string_view what) {
  return "group" + std::to_string(group) + "." + std::string(what);
}

void add_polynomial(ArchiveWriter& writer, const std::string& name, const StiffnessPolynomial& polynomial) {
  writer.add(name + ".constant", polynomial.constant);
  writer.add(name + ".linear", polynomial.linear);
  writer.add(name + ".quadratic", polynomial.quadratic);
}

/// Copies a matrix of the expected shape; remembers the first thing that is wrong.
class Reader {
 public:
  explicit Reader(const Archive& archive) : archive_(archive) {}

  MatX matrix(const std::string& name, Eigen::Index rows, Eigen::Index columns) {
    const auto found = archive_.matrix(name);
    if (!found.ok()) {
      note(found.error());
      return {};
    }
    if (found->rows() != rows || found->cols() != columns || !found->allFinite()) {
      note(input_error("the asset's \"" + name + "\" does not fit the rest; build it again"));
      return {};
    }
    return *found;
  }
  StiffnessPolynomial polynomial(const std::string& name, Index r) {
    const Index pairs = pair_count(r);
    return {matrix(name + ".constant", pairs, 1), matrix(name + ".linear", pairs, r),
            matrix(name + ".quadratic", pairs, pairs)};
  }
  Status status() const { return error_ ? Status(*error_) : Status(); }
  void note(const Error& error) {
    if (!error_) error_ = error;
  }

 private:
  const Archive& archive_;
  std::optional<Error> error_;
};

MaterialGroup read_group(const Archive& archive, Reader& reader, std::size_t group, Index r) {
  MaterialGroup result;
  const auto name = archive.text(group_name(group, "name"));
  if (name.ok()) result.material.name = *name;
  const MatX numbers = reader.matrix(group_name(group, "material"), 3, 1);
  if (numbers.size() == 3) {
    result.material.young = numbers(0);
    result.material.poisson = numbers(1);
    result.material.density = numbers(2);
  }
  result.lambda = reader.polynomial(group_name(group, "lambda"), r);
  result.mu = reader.polynomial(group_name(group, "mu"), r);
  result.mass = reader.matrix(group_name(group, "mass"), r, r);
  return result;
}

}  // namespace

std::string encode_subspace_model(const SubspaceModel& model) {
  ArchiveWriter writer(kind);
  MatX positions(3, model.vertex_count());
  for (Index v = 0; v < model.vertex_count(); ++v) positions.col(v) = model.rest_positions[static_cast<std::size_t>(v)];
  writer.add("rest_positions", positions);
  writer.add("basis", model.basis);
  const auto groups = static_cast<Index>(model.groups.size());
  writer.add("groups", std::span<const Index>(&groups, 1));
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    const MaterialGroup& group = model.groups[g];
    writer.add(group_name(g, "name"), std::string_view(group.material.name));
    writer.add(group_name(g, "material"), Vec3(group.material.young, group.material.poisson, group.material.density));
    add_polynomial(writer, group_name(g, "lambda"), group.lambda);
    add_polynomial(writer, group_name(g, "mu"), group.mu);
    writer.add(group_name(g, "mass"), group.mass);
  }
  return writer.bytes();
}

Result<SubspaceModel> decode_subspace_model(const Archive& archive) {
  if (archive.kind() != kind) {
    return input_error("the asset holds a \"" + archive.kind() + "\", not a subspace model");
  }
  const auto basis = archive.matrix("basis");
  if (!basis.ok()) return basis.error();
  const auto groups = archive.indices("groups");
  if (!groups.ok()) return groups.error();
  const auto r = static_cast<Index>(basis->cols());
  Reader reader(archive);
  SubspaceModel model;
  model.basis = reader.matrix("basis", basis->rows(), r);
  const MatX positions = reader.matrix("rest_positions", 3, basis->rows() / 3);
  for (Eigen::Index v = 0; v < positions.cols(); ++v) model.rest_positions.emplace_back(positions.col(v));
  const std::size_t count = groups->empty() ? 0 : static_cast<std::size_t>(std::max<Index>(0, groups->front()));
  for (std::size_t g = 0; g < count && reader.status().ok(); ++g)
    model.groups.push_back(read_group(archive, reader, g, r));
  if (model.groups.empty()) reader.note(input_error("the asset has no materials; build it again"));
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return model;
}

Result<SubspaceModel> load_subspace_model(const std::filesystem::path& path) {
  const Result<Archive> archive = Archive::open(path);
  if (!archive.ok()) return archive.error();
  Result<SubspaceModel> model = decode_subspace_model(*archive);
  if (!model.ok()) return Error{model.error().kind, path.string() + ": " + model.error().message};
  return model;
}

}  // namespace supple
