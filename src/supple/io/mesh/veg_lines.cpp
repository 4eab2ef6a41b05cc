// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/veg_lines.h"

#include <fmt/format.h>

#include <filesystem>

namespace supple {
namespace {

constexpr TextSyntax veg_syntax = {.comment = '#', .commas_separate = true};

// Far beyond honest files, and small enough that files including each other many times over can't exhaust the machine.
constexpr std::size_t most_includes = 1000;
constexpr std::size_t deepest_include = 16;
constexpr std::size_t most_included_bytes = std::size_t{4} << 30;

std::string tidy(const std::filesystem::path& path) { return path.lexically_normal().generic_string(); }

}  // namespace

VegLines::VegLines(std::string_view bytes, const std::string& name, const IncludeResolver& resolve)
    : resolve_(resolve) {
  open_.push_back({tidy(std::filesystem::path(name).filename()), TextScanner(bytes, name, veg_syntax)});
}

bool VegLines::next(TextScanner& line) {
  while (!failed()) {
    if (open_.back().scanner.next_line(line)) {
      if (!equals_ignoring_case(line.peek(), "*INCLUDE")) return true;
      if (!include(line)) return false;
    } else {
      if (open_.size() == 1) return false;
      open_.pop_back();
    }
  }
  return false;
}

bool VegLines::include(TextScanner& line) {
  line.token();
  const std::string wanted(line.rest_of_line());
  if (wanted.empty()) return stop(line.fail("*INCLUDE names no file"));
  const std::filesystem::path folder =
      open_.size() == 1 ? std::filesystem::path() : std::filesystem::path(open_.back().path).parent_path();
  const std::string path = tidy(folder / wanted);
  for (const Source& source : open_) {
    if (source.path == path) return stop(line.fail(fmt::format("\"{}\" includes itself", path)));
  }
  if (open_.size() > deepest_include || texts_.size() >= most_includes)
    return stop(line.fail("too many included files; merge them"));
  if (!resolve_) return stop(line.fail(fmt::format("the included file \"{}\" can't be reached from here", path)));
  Result<std::string> text = resolve_(path);
  if (!text.ok()) {
    std::string reason = text.error().message;
    if (reason.ends_with('.')) reason.pop_back();
    return stop(line.fail(fmt::format("the included file \"{}\" can't be read: {}", path, reason)));
  }
  included_bytes_ += text->size();
  if (included_bytes_ > most_included_bytes) return stop(line.fail("the included files exceed 4 GiB"));
  texts_.emplace_back(path, std::move(*text));
  open_.push_back({path, TextScanner(texts_.back().second, texts_.back().first, veg_syntax)});
  return true;
}

bool VegLines::stop(Error error) {
  fault_ = std::move(error);
  return false;
}

}  // namespace supple
