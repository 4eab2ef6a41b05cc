// SPDX-License-Identifier: Apache-2.0
// TomlReader: TOML tables with a closed list of keys. The first fault sticks, so that a reader of a whole file asks
// once at its end. Heavy to include: for one source file per kind of TOML file.
#pragma once

#include "supple/base/nearest_name.h"
#include "supple/base/result.h"
#include "supple/base/types.h"

#include <fmt/format.h>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace supple {

class TomlReader {
 public:
  explicit TomlReader(std::string name) : name_(std::move(name)) {}

  /// The file's tables, valid as long as the reader; nothing, and an error, where the text isn't TOML.
  const toml::table* parse(std::string_view text) {
    toml::parse_result parsed = toml::parse(text, name_);
    if (!parsed) {
      fail(parsed.error().source(), std::string(parsed.error().description()));
      return nullptr;
    }
    root_ = std::move(parsed).table();
    return &root_;
  }

  bool ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

  void fail(const toml::source_region& where, const std::string& sentence) {
    if (!error_) error_ = input_error(fmt::format("{}, line {}: {}", name_, where.begin.line, sentence));
  }
  void fail(const toml::node& where, const std::string& sentence) { fail(where.source(), sentence); }

  /// Every key of the table is one of `keys`; `title` is what the table is called, such as "[solver]".
  void only_keys(const toml::table& table, std::string_view title, std::span<const std::string_view> keys) {
    for (const auto& [key, node] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      const std::string_view near = nearest_name(key.str(), keys);
      const std::string hint =
          near.empty() ? fmt::format("it has {}", fmt::join(keys, ", ")) : fmt::format("did you mean \"{}\"?", near);
      fail(key.source(), fmt::format("{} has no key \"{}\"; {}", title, key.str(), hint));
    }
  }

  // Each of these leaves `value` alone where the key is absent.

  void read(const toml::table& table, std::string_view key, std::string& value) {
    const toml::node* node = table.get(key);
    if (!node) return;
    if (const auto* text = node->as_string(); text && !text->get().empty())
      value = text->get();
    else
      fail(*node, fmt::format("\"{}\" must be a text that isn't empty", key));
  }

  void read(const toml::table& table, std::string_view key, double& value) {
    const toml::node* node = table.get(key);
    if (!node) return;
    const std::optional<double> number = number_in(*node);
    if (number)
      value = *number;
    else
      fail(*node, fmt::format("\"{}\" must be a finite number", key));
  }

  void read(const toml::table& table, std::string_view key, std::optional<double>& value) {
    if (!table.get(key)) return;
    value = 0.0;
    read(table, key, *value);
  }

  void read(const toml::table& table, std::string_view key, bool& value) {
    const toml::node* node = table.get(key);
    if (!node) return;
    if (const auto* word = node->as_boolean())
      value = word->get();
    else
      fail(*node, fmt::format("\"{}\" must be true or false", key));
  }

  void read(const toml::table& table, std::string_view key, int& value, int smallest) {
    const toml::node* node = table.get(key);
    if (!node) return;
    const auto* number = node->as_integer();
    if (number && number->get() >= smallest && number->get() <= 1'000'000'000)
      value = static_cast<int>(number->get());
    else
      fail(*node, fmt::format("\"{}\" must be a whole number of at least {}", key, smallest));
  }

  void read(const toml::table& table, std::string_view key, Vec3& value) {
    const toml::node* node = table.get(key);
    if (!node) return;
    const toml::array* list = node->as_array();
    bool good = list && list->size() == 3;
    for (std::size_t k = 0; good && k < 3; ++k) {
      const std::optional<double> number = number_in((*list)[k]);
      good = number.has_value();
      if (good) value[static_cast<Eigen::Index>(k)] = *number;
    }
    if (!good) fail(*node, fmt::format("\"{}\" must be three finite numbers, such as [0, -9.81, 0]", key));
  }

  void read(const toml::table& table, std::string_view key, std::array<std::string, 2>& value) {
    const toml::node* node = table.get(key);
    if (!node) return;
    const toml::array* list = node->as_array();
    bool good = list && list->size() == 2;
    for (std::size_t k = 0; good && k < 2; ++k) {
      const auto* text = (*list)[k].as_string();
      good = text && !text->get().empty();
      if (good) value[k] = text->get();
    }
    if (!good) fail(*node, fmt::format("\"{}\" must be two names, such as [\"left\", \"right\"]", key));
  }

  void read(const toml::table& table, std::string_view key, std::array<int, 3>& value) {
    const toml::node* node = table.get(key);
    if (!node) return;
    const toml::array* list = node->as_array();
    bool good = list && list->size() == 3;
    for (std::size_t k = 0; good && k < 3; ++k) {
      const auto* number = (*list)[k].as_integer();
      good = number && number->get() >= 1 && number->get() <= 100'000;
      if (good) value[k] = static_cast<int>(number->get());
    }
    if (!good) fail(*node, fmt::format("\"{}\" must be three whole numbers of at least 1, such as [40, 4, 4]", key));
  }

  /// Reads a string that must be one of `words`. Returns its place among them, or nothing where the key is absent or
  /// wrong.
  std::optional<std::size_t> read_word(const toml::table& table, std::string_view key,
                                       std::span<const std::string_view> words) {
    std::string word;
    read(table, key, word);
    if (word.empty()) return std::nullopt;
    const auto found = std::find(words.begin(), words.end(), word);
    if (found != words.end()) return to_size(found - words.begin());
    fail(*table.get(key), fmt::format("\"{}\" can't be \"{}\"; it is one of {}", key, word, fmt::join(words, ", ")));
    return std::nullopt;
  }

  void require(const toml::table& table, std::string_view title, std::string_view key) {
    if (!table.contains(key)) fail(table, fmt::format("{} needs the key \"{}\"", title, key));
  }

  /// Gives a table such as [solver], or null where there is none.
  const toml::table* table(const toml::table& parent, std::string_view key) {
    const toml::node* node = parent.get(key);
    if (node && !node->is_table()) fail(*node, fmt::format("\"{0}\" must be a table: write [{0}]", key));
    return node ? node->as_table() : nullptr;
  }

  /// Calls visit(table) for each [[key]].
  template <class Visit>
  void tables(const toml::table& parent, std::string_view key, const Visit& visit) {
    const toml::node* node = parent.get(key);
    if (!node) return;
    const toml::array* list = node->as_array();
    if (!list) {
      fail(*node, fmt::format("\"{0}\" must be a list of tables: write [[{0}]]", key));
      return;
    }
    for (const toml::node& entry : *list) {
      if (const toml::table* table = entry.as_table())
        visit(*table);
      else
        fail(entry, fmt::format("\"{0}\" must be a list of tables: write [[{0}]]", key));
    }
  }

 private:
  static std::optional<double> number_in(const toml::node& node) {
    if (!node.is_number()) return std::nullopt;
    const std::optional<double> number = node.value<double>();
    return number && std::isfinite(*number) ? number : std::nullopt;
  }

  std::string name_;
  toml::table root_;
  std::optional<Error> error_;
};

}  // namespace supple
