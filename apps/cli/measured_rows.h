// SPDX-License-Identifier: Apache-2.0
// What `supple bench NAME --results FOLDER` leaves behind, read again: NAME.csv with the rows, NAME.json with the
// machine, the build and the day. Numbers stay the text that the file has, so that whoever shows them shows those.
#pragma once

#include "supple/base/result.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

struct MeasuredRow {
  std::string table = {}, row = {}, metric = {};
  std::string value = {}, unit = {}, paper = {}, peer = {}, target = {};  ///< empty where there is none
  std::string error = {};                                                 ///< why there is no value
};

/// Rows of a CSV file whose first line names the columns. Refused: other columns, lines of another length, and values
/// that aren't numbers.
Result<std::vector<MeasuredRow>> parse_measured_rows(const std::string& name, std::string_view text);

/// One benchmark on one machine.
struct MeasuredRun {
  std::string bench;                        ///< "fem"
  bool there = false;                       ///< whether there is a CSV
  std::vector<MeasuredRow> rows = {};       ///< of the CSV
  nlohmann::json about = nlohmann::json();  ///< of the run: null where nothing tells
};

/// The runs of these benchmarks that lie in `folder`.
Result<std::vector<MeasuredRun>> read_measured_runs(const std::filesystem::path& folder,
                                                    const std::vector<std::string>& benches);

}  // namespace supple
