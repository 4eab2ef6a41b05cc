// SPDX-License-Identifier: Apache-2.0
// TextScanner: walks through the text of a mesh file, token by token or line by line.
//
// The first fault sticks: every later read answers false, and error() gives the sentence with file and line. So a
// reader chains its reads and asks once. Numbers are read independently of the locale. Counts are believed only as far
// as the rest of the file could hold that many entries, so a damaged header never makes us allocate more than the
// file's size.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace supple {

/// Whole text as one number: optional sign (also '+'), decimal; a Fortran exponent (1.5D+03) counts. NaN and infinity
/// are numbers here; whether they make sense is the caller's question.
bool parse_number(std::string_view text, double& value);
bool parse_number(std::string_view text, std::int64_t& value);
bool parse_number(std::string_view text, Index& value);

/// Gives the text without the blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

bool equals_ignoring_case(std::string_view a, std::string_view b);

struct TextSyntax {
  char comment = '\0';           ///< starts a comment that runs to the end of the line; none if '\0'
  bool commas_separate = false;  ///< commas count as blanks
  bool continues_lines = false;  ///< a backslash at the end of a line joins the next one to it
};

class TextScanner {
 public:
  /// Neither text nor name is copied: both outlive the scanner.
  TextScanner(std::string_view text, std::string_view file_name, TextSyntax syntax = {});

  /// True when only blanks and comments are left.
  bool at_end();
  /// The next run of non-blanks; empty at the end.
  std::string_view token();
  /// Gives the next token without taking it.
  std::string_view peek();
  /// Gives what is left of the current line, trimmed, and moves to the next line.
  std::string_view rest_of_line();
  /// A scanner over the next line that holds more than blanks and comments; false at the end.
  bool next_line(TextScanner& line);

  bool read(double& value);
  bool read(std::int64_t& value);
  bool read(Index& value);
  /// Reads a number that must be finite.
  bool read_finite(double& value);
  /// Reads three numbers that must be finite.
  bool read_point(Vec3& point);
  /// A count of entries that take at least `bytes_each` bytes each.
  bool read_count(std::size_t& count, std::size_t bytes_each);
  /// Takes the next token, which must be this word.
  bool expect(std::string_view word);

  std::size_t bytes_left() const { return to_size(end_ - cursor_); }
  std::size_t line_number() const;
  std::string_view file_name() const { return file_name_; }
  /// Everything from here on, and moving past it: for sections that aren't text.
  std::string_view remaining() const { return {cursor_, bytes_left()}; }
  void skip(std::size_t bytes);
  /// Exactly one line end, after which bytes of any value may follow.
  void skip_line_end() { skip(remaining().starts_with("\r\n") ? 2 : 1); }

  bool failed() const { return !fault_.empty(); }
  /// Gives the first fault that was met.
  Error error() const;
  /// A fault of the caller's own at this place: "FILE, line N: what".
  Error fail(std::string_view what) const;

 private:
  void skip_blanks();
  bool joins_next_line(const char* at) const;
  bool set_fault(std::string_view expected, std::string_view found);

  const char* origin_;
  const char* cursor_;
  const char* end_;
  std::string_view file_name_;
  TextSyntax syntax_;
  bool is_line_ = false;
  std::string fault_;
};

}  // namespace supple
