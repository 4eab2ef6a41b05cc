// SPDX-License-Identifier: Apache-2.0
// VegLines: the lines of a Vega file with its included files unfolded in place.
#pragma once

#include "supple/io/mesh/veg.h"
#include "supple/io/text_scanner.h"

#include <deque>

namespace supple {

class VegLines {
 public:
  VegLines(std::string_view bytes, const std::string& name, const IncludeResolver& resolve);

  /// The next line that holds something; false at the end and on a fault: see error().
  bool next(TextScanner& line);

  bool failed() const { return fault_.has_value(); }
  const Error& error() const { return *fault_; }
  /// Makes an error that names the present file and line.
  Error fail(std::string_view what) const { return open_.back().scanner.fail(what); }
  /// Gives a scanner at the beginning of the file, for callers that need one before the first line.
  TextScanner start() const { return open_.front().scanner; }

 private:
  struct Source {
    std::string path;  ///< relative to the main file's folder, tidied; the main file's own is its name
    TextScanner scanner;
  };

  bool include(TextScanner& line);
  bool stop(Error error);

  const IncludeResolver& resolve_;
  std::vector<Source> open_;
  std::deque<std::pair<std::string, std::string>> texts_;  ///< names and texts of included files, at stable addresses
  std::size_t included_bytes_ = 0;
  std::optional<Error> fault_;
};

}  // namespace supple
