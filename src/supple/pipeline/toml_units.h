// SPDX-License-Identifier: Apache-2.0
// Numbers of TOML files that are bare and in a stated unit. Who writes "25 kPa" is told to write 25000. For the one
// source file that reads a kind of TOML file, as toml_reader.h is.
#pragma once

#include "supple/io/text_scanner.h"
#include "supple/pipeline/toml_reader.h"

#include <algorithm>

namespace supple {

struct TomlUnit {
  std::string_view name;      ///< as people write it behind a number
  std::string_view measures;  ///< the unit of ours it can stand for
  double factor;
};

inline constexpr TomlUnit toml_units[] = {{"kPa", "pascals", 1e3}, {"MPa", "pascals", 1e6},
                                          {"GPa", "pascals", 1e9}, {"Pa", "pascals", 1},
                                          {"kg/m3", "kg/m³", 1},   {"kg/m³", "kg/m³", 1},
                                          {"g/cm3", "kg/m³", 1e3}, {"g/cm³", "kg/m³", 1e3},
                                          {"g/ml", "kg/m³", 1e3},  {"ms", "seconds", 1e-3},
                                          {"s", "seconds", 1},     {"deg", "degrees", 1},
                                          {"°", "degrees", 1},     {"rad", "degrees", 57.29577951308232},
                                          {"mm", "metres", 1e-3},  {"cm", "metres", 1e-2},
                                          {"m", "metres", 1},      {"Hz", "hertz", 1},
                                          {"kHz", "hertz", 1e3},   {"%", "a share of the body's diagonal", 1e-2}};

/// "25 kPa" where pascals are wanted: what to write instead; nothing where no number is meant.
inline std::optional<double> meant_number(std::string_view text, std::string_view unit) {
  const std::size_t digits = text.find_last_of("0123456789.");
  // Digits of the unit itself (kg/m3) don't count.
  std::size_t end = std::min(text.find(' '), digits == text.npos ? text.npos : digits + 1);
  double number = 0;
  while (end != text.npos && end > 0 && !parse_number(text.substr(0, end), number)) --end;
  if (end == text.npos || end == 0) return std::nullopt;
  std::string_view rest = text.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.empty()) return number;
  for (const TomlUnit& known : toml_units)
    if (known.name == rest && known.measures == unit) return number * known.factor;
  return std::nullopt;
}

/// A number in a stated unit; what came with a unit of its own is told how to be written.
inline void read_number(TomlReader& toml, const toml::table& table, std::string_view key, std::string_view unit,
                        double& value) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  if (const auto* text = node->as_string()) {
    const std::optional<double> meant = meant_number(text->get(), unit);
    toml.fail(*node, fmt::format("\"{}\" is a bare number in {}{}", key, unit,
                                 meant ? fmt::format(": write {:.6g} instead of \"{}\"", *meant, text->get())
                                       : fmt::format(", not \"{}\"", text->get())));
    return;
  }
  toml.read(table, key, value);
}

/// Reads such a number, which must lie within a range.
inline void read_between(TomlReader& toml, const toml::table& table, std::string_view key, std::string_view unit,
                         double low, double high, double& value) {
  read_number(toml, table, key, unit, value);
  if (table.contains(key) && !(value >= low && value <= high))
    toml.fail(*table.get(key), fmt::format("\"{}\" is {:g}, but must lie between {:g} and {:g}; it is in {}", key,
                                           value, low, high, unit));
}

/// A hundred turns; of much larger angles no digit is left that says where they end.
inline constexpr double most_degrees = 36'000;

/// Reads three numbers in a stated unit.
inline void read_vector(TomlReader& toml, const toml::table& table, std::string_view key, std::string_view unit,
                        std::optional<Vec3>& value) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  for (std::size_t k = 0; list && k < list->size(); ++k) {
    const auto* text = (*list)[k].as_string();
    if (text == nullptr) continue;
    const std::optional<double> meant = meant_number(text->get(), unit);
    toml.fail((*list)[k], fmt::format("\"{}\" holds bare numbers in {}{}", key, unit,
                                      meant ? fmt::format(": write {:.6g} instead of \"{}\"", *meant, text->get())
                                            : fmt::format(", not \"{}\"", text->get())));
  }
  toml.read(table, key, value.emplace(Vec3::Zero()));
  if (unit == "degrees" && value->cwiseAbs().maxCoeff() > most_degrees)
    toml.fail(*node, fmt::format("\"{}\" must be at most {:g} degrees", key, most_degrees));
}

}  // namespace supple
