// SPDX-License-Identifier: Apache-2.0
// ArchiveReader: takes arrays out of an archive and checks that they have the shape and range that the caller expects.
// The first thing that is wrong is remembered, and everything after it reads as empty, so that a decoder can be written
// straight down and ask once, at the end.
#pragma once

#include "supple/asset/archive.h"

#include <optional>

namespace supple {

/// Gives a matrix whose columns are the points, as archives store them.
MatX columns_of(std::span<const Vec3> points);

class ArchiveReader {
 public:
  explicit ArchiveReader(const Archive& archive) : archive_(archive) {}

  static constexpr Eigen::Index any = -1;  ///< accepts as many rows or columns as there are

  /// Takes a matrix out of the archive, and refuses one of another shape or with numbers that aren't finite.
  MatX matrix(const std::string& name, Eigen::Index rows, Eigen::Index columns);
  /// Does the same for a matrix that was stored in single precision.
  MatX singles(const std::string& name, Eigen::Index rows, Eigen::Index columns);
  /// Takes `count` points out of a matrix of three rows.
  std::vector<Vec3> points(const std::string& name, Eigen::Index count);
  /// Takes a matrix of one row and one column as a number.
  double number(const std::string& name);
  /// Takes `count` indices (`any`: a whole number of runs of `multiple`), and refuses one that is below `least` or not
  /// below `limit`.
  std::vector<Index> indices(const std::string& name, Eigen::Index count, Index limit, int multiple = 1,
                             Index least = 0);
  /// Takes a single index below `limit`; gives 0 where it is refused.
  Index index(const std::string& name, Index limit);
  std::string text(const std::string& name);

  const Archive& archive() const { return archive_; }
  Status status() const { return error_ ? Status(*error_) : Status(); }
  bool ok() const { return !error_; }
  void note(const Error& error) {
    if (!error_) error_ = error;
  }
  /// Refuses the archive because this array, sound by itself, doesn't fit the others.
  void misfit(const std::string& name);

 private:
  template <class Found>
  bool fits(const std::string& name, const Found& found, Eigen::Index rows, Eigen::Index columns);

  const Archive& archive_;
  std::optional<Error> error_;
};

}  // namespace supple
