// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/archive_reader.h"

#include <algorithm>

namespace supple {

MatX columns_of(std::span<const Vec3> points) {
  MatX columns(3, static_cast<Eigen::Index>(points.size()));
  for (std::size_t v = 0; v < points.size(); ++v) columns.col(static_cast<Eigen::Index>(v)) = points[v];
  return columns;
}

void ArchiveReader::misfit(const std::string& name) {
  note(input_error("the asset's \"" + name + "\" does not fit the rest; build it again"));
}

template <class Found>
bool ArchiveReader::fits(const std::string& name, const Found& found, Eigen::Index rows, Eigen::Index columns) {
  if (!found.ok()) {
    note(found.error());
    return false;
  }
  if ((rows != any && found->rows() != rows) || (columns != any && found->cols() != columns) || !found->allFinite()) {
    misfit(name);
    return false;
  }
  return true;
}

MatX ArchiveReader::matrix(const std::string& name, Eigen::Index rows, Eigen::Index columns) {
  const auto found = archive_.matrix(name);
  return fits(name, found, rows, columns) ? MatX(*found) : MatX();
}

MatX ArchiveReader::singles(const std::string& name, Eigen::Index rows, Eigen::Index columns) {
  const auto found = archive_.single_matrix(name);
  return fits(name, found, rows, columns) ? MatX(found->cast<double>()) : MatX();
}

std::vector<Vec3> ArchiveReader::points(const std::string& name, Eigen::Index count) {
  const MatX columns = matrix(name, 3, count);
  std::vector<Vec3> result;
  for (Eigen::Index v = 0; v < columns.cols(); ++v) result.emplace_back(columns.col(v));
  return result;
}

double ArchiveReader::number(const std::string& name) {
  const MatX found = matrix(name, 1, 1);
  return found.size() == 1 ? found(0) : 0;
}

std::vector<Index> ArchiveReader::indices(const std::string& name, Eigen::Index count, Index limit, int multiple,
                                          Index least) {
  const auto found = archive_.indices(name);
  if (!found.ok()) {
    note(found.error());
    return {};
  }
  const bool fits = found->size() % to_size(multiple) == 0 &&
                    (count == any || static_cast<Eigen::Index>(found->size()) == count) &&
                    std::all_of(found->begin(), found->end(), [&](Index i) { return i >= least && i < limit; });
  if (!fits) {
    misfit(name);
    return {};
  }
  return {found->begin(), found->end()};
}

Index ArchiveReader::index(const std::string& name, Index limit) {
  const std::vector<Index> found = indices(name, 1, limit);
  return found.empty() ? 0 : found.front();
}

std::string ArchiveReader::text(const std::string& name) {
  const Result<std::string> found = archive_.text(name);
  if (!found.ok()) note(found.error());
  return found.ok() ? *found : std::string();
}

}  // namespace supple
