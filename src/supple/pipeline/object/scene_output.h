// SPDX-License-Identifier: Apache-2.0
// The files of a scene, all or nothing: they wait in a FileTransaction until all are complete.
#pragma once

#include "supple/io/file_transaction.h"
#include "supple/io/mesh/vtu.h"
#include "supple/pipeline/object/scene_body.h"

namespace supple {

/// One row of the history table.
struct HistoryRow {
  double time = 0;
  double kinetic = 0;
  double elastic = 0;
  double gravity = 0;
  double largest_displacement = 0;
  std::vector<Vec3> tracks;
};

class SceneFiles {
 public:
  /// Prepares the scene's output folder. Where the scene names none, every call does nothing.
  explicit SceneFiles(const Scene& scene);

  /// Finds out early whether the target can be written; its folder is made as part of the transaction.
  Status open(FileTransaction& files);
  Status add_frame(const SceneBody& body, const DynamicsState& state);
  void add_row(const HistoryRow& row);
  /// Writes what comes last; returns the paths a user wants to know.
  Result<std::vector<std::filesystem::path>> finish(const SceneBody& body, const VtuFields& final_fields);

 private:
  const Scene& scene_;
  bool wanted_ = false;  ///< there is a folder to write to
  std::vector<PvdFrame> frames_;
  std::string history_;
};

}  // namespace supple
