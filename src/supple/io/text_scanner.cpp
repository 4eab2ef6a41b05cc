// SPDX-License-Identifier: Apache-2.0
#include "supple/io/text_scanner.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <limits>

namespace supple {
namespace {

// All control characters count as blanks, so that tabs, form feeds and stray end-of-file marks do no harm.
bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

template <class T>
bool parse_whole(std::string_view text, T& value) {
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && stop == text.data() + text.size();
}

// What from_chars refuses as a double although people write it: magnitudes below the smallest double, D exponents.
bool parse_unusual(std::string_view text, double& value) {
  if (text.size() > 400) return false;
  std::string copy(text);
  for (char& c : copy) {
    if (c == 'D' || c == 'd') c = 'e';
  }
  long double wide = 0;
  if (!parse_whole(std::string_view(copy), wide)) return false;
  value = static_cast<double>(wide);
  return true;
}

// At most this much of a strange token is quoted in a message, and nothing that could garble a terminal.
std::string printable(std::string_view token) {
  std::string text(token.substr(0, 24));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return token.size() > 24 ? text + "..." : text;
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
  text = without_plus(text);
  return parse_whole(text, value) || parse_unusual(text, value);
}

bool parse_number(std::string_view text, std::int64_t& value) { return parse_whole(without_plus(text), value); }
bool parse_number(std::string_view text, Index& value) { return parse_whole(without_plus(text), value); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}

TextScanner::TextScanner(std::string_view text, std::string_view file_name, TextSyntax syntax)
    : origin_(text.data()),
      cursor_(text.data()),
      end_(text.data() + text.size()),
      file_name_(file_name),
      syntax_(syntax) {
  if (text.starts_with("\xEF\xBB\xBF")) cursor_ += 3;  // the byte order mark some Windows editors write
}

bool TextScanner::joins_next_line(const char* at) const {
  return syntax_.continues_lines && *at == '\\' && at + 1 < end_ && is_line_end(at[1]);
}

void TextScanner::skip_blanks() {
  while (cursor_ != end_) {
    if (is_blank(*cursor_) || (syntax_.commas_separate && *cursor_ == ',') || joins_next_line(cursor_)) {
      ++cursor_;
    } else if (syntax_.comment != '\0' && *cursor_ == syntax_.comment) {
      while (cursor_ != end_ && !is_line_end(*cursor_)) ++cursor_;
    } else {
      return;
    }
  }
}

bool TextScanner::at_end() {
  skip_blanks();
  return cursor_ == end_;
}

std::string_view TextScanner::token() {
  skip_blanks();
  const char* begin = cursor_;
  while (cursor_ != end_ && !is_blank(*cursor_) && !(syntax_.commas_separate && *cursor_ == ',') &&
         !joins_next_line(cursor_)) {
    ++cursor_;
  }
  return {begin, to_size(cursor_ - begin)};
}

std::string_view TextScanner::peek() {
  const char* before = cursor_;
  const std::string_view next = token();
  cursor_ = before;
  return next;
}

std::string_view TextScanner::rest_of_line() {
  const char* begin = cursor_;
  while (cursor_ != end_ && !is_line_end(*cursor_)) ++cursor_;
  const char* end = cursor_;
  while (begin != end && is_blank(*begin)) ++begin;
  while (begin != end && (is_blank(end[-1]) || (syntax_.continues_lines && end[-1] == '\\'))) --end;
  return {begin, to_size(end - begin)};
}

bool TextScanner::next_line(TextScanner& line) {
  if (at_end()) return false;
  const char* stop = cursor_;
  while (stop != end_ && !is_line_end(*stop)) {
    if (joins_next_line(stop)) stop += (stop + 2 < end_ && stop[1] == '\r' && stop[2] == '\n') ? 2 : 1;
    ++stop;
  }
  line.origin_ = origin_;
  line.cursor_ = cursor_;
  line.end_ = stop;
  line.file_name_ = file_name_;
  line.syntax_ = syntax_;
  line.is_line_ = true;
  line.fault_.clear();
  cursor_ = stop;
  return true;
}

bool TextScanner::read(double& value) {
  if (failed()) return false;
  const std::string_view text = token();
  return parse_number(text, value) || set_fault("a number", text);
}

bool TextScanner::read(std::int64_t& value) {
  if (failed()) return false;
  const std::string_view text = token();
  return parse_number(text, value) || set_fault("a whole number", text);
}

bool TextScanner::read(Index& value) {
  if (failed()) return false;
  const std::string_view text = token();
  return parse_number(text, value) || set_fault("a whole number below 2^31", text);
}

bool TextScanner::read_finite(double& value) {
  if (failed()) return false;
  const std::string_view text = token();
  if (!parse_number(text, value)) return set_fault("a number", text);
  return std::isfinite(value) || set_fault("a finite number", text);
}

bool TextScanner::read_point(Vec3& point) {
  return read_finite(point[0]) && read_finite(point[1]) && read_finite(point[2]);
}

bool TextScanner::read_count(std::size_t& count, std::size_t bytes_each) {
  std::int64_t value = 0;
  if (!read(value)) return false;
  if (value < 0 || value > std::numeric_limits<Index>::max()) {
    fault_ = fail(fmt::format("a count of {} is impossible; the file is damaged", value)).message;
    return false;
  }
  count = to_size(value);
  // A line scanner sees only its own line; its file holds at least the rest of that line, checked by the caller.
  if (!is_line_ && count > bytes_left() / bytes_each + 1) {
    fault_ =
        fail(fmt::format("a count of {} is more than the rest of the file can hold; the file is cut short or damaged",
                         value))
            .message;
    return false;
  }
  return true;
}

bool TextScanner::expect(std::string_view word) {
  if (failed()) return false;
  const std::string_view text = token();
  return equals_ignoring_case(text, word) || set_fault(fmt::format("\"{}\"", word), text);
}

std::size_t TextScanner::line_number() const {
  std::size_t line = 1;
  for (const char* c = origin_; c != cursor_; ++c) {
    if (*c == '\n' || (*c == '\r' && c + 1 != cursor_ && c[1] != '\n')) ++line;
  }
  return line;
}

void TextScanner::skip(std::size_t bytes) { cursor_ += std::min(bytes, bytes_left()); }

bool TextScanner::set_fault(std::string_view expected, std::string_view found) {
  fault_ =
      found.empty()
          ? fail(fmt::format("expected {} but the {} ends; the file is cut short or damaged", expected,
                             is_line_ ? "line" : "file"))
                .message
          : fail(fmt::format("expected {} but found \"{}\"; the file is damaged", expected, printable(found))).message;
  return false;
}

Error TextScanner::error() const { return input_error(fault_.empty() ? fail("the file is damaged").message : fault_); }

Error TextScanner::fail(std::string_view what) const {
  return input_error(fmt::format("{}, line {}: {}.", file_name_, line_number(), what));
}

}  // namespace supple
