// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/dmat.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

#include <cstring>

namespace supple {
namespace {

/// "columns rows"; each number takes at least `bytes_each` of what follows.
bool read_size(TextScanner& scanner, std::int64_t& columns, std::int64_t& rows) {
  return scanner.read(columns) && scanner.read(rows);
}

Status check_size(TextScanner& scanner, std::int64_t columns, std::int64_t rows, std::size_t bytes_each) {
  if (columns < 1 || rows < 1) return scanner.fail("a matrix needs a row and a column at least; save it again");
  const auto room = static_cast<std::int64_t>(scanner.bytes_left() / bytes_each) + 1;
  if (columns > room || rows > room / columns)
    return scanner.fail(
        fmt::format("{} columns and {} rows are announced, but the file ends before; save it again", columns, rows));
  return {};
}

Result<MatX> read_text(TextScanner& scanner, std::int64_t columns, std::int64_t rows) {
  SUPPLE_RETURN_IF_ERROR(check_size(scanner, columns, rows, 2));
  MatX matrix(rows, columns);
  for (double& value : matrix.reshaped())
    if (!scanner.read_finite(value)) return scanner.error();
  if (!scanner.at_end()) return scanner.fail("more numbers follow than the first line announces; save it again");
  return matrix;
}

Result<MatX> read_binary(TextScanner& scanner) {
  std::int64_t columns = 0, rows = 0;
  if (!read_size(scanner, columns, rows)) return scanner.error();
  scanner.skip_line_end();
  SUPPLE_RETURN_IF_ERROR(check_size(scanner, columns, rows, sizeof(double)));
  MatX matrix(rows, columns);
  const std::string_view bytes = scanner.remaining();
  const std::size_t wanted = to_size(matrix.size()) * sizeof(double);
  if (bytes.size() < wanted) return scanner.fail("the numbers end too soon; save the matrix again");
  std::memcpy(matrix.data(), bytes.data(), wanted);
  if (!matrix.allFinite()) return scanner.fail("a number isn't finite; save the matrix again");
  return matrix;
}

}  // namespace

Result<MatX> parse_dmat(std::string_view bytes, const std::string& name) {
  TextScanner scanner(bytes, name);
  std::int64_t columns = 0, rows = 0;
  if (!read_size(scanner, columns, rows)) return scanner.error();
  return columns == 0 && rows == 0 ? read_binary(scanner) : read_text(scanner, columns, rows);
}

Result<MatX> load_dmat(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path);
  SUPPLE_RETURN_IF_ERROR(bytes);
  return parse_dmat(*bytes, path.string());
}

std::string encode_dmat(const MatX& matrix) {
  std::string text = fmt::format("{} {}\n", matrix.cols(), matrix.rows());
  for (const double value : matrix.reshaped()) text += fmt::format("{}\n", value);
  return text;
}

}  // namespace supple
