// SPDX-License-Identifier: Apache-2.0
// Text as XML and SVG may hold it.
#pragma once

#include <string>
#include <string_view>

namespace supple {

/// Escapes what XML would read as markup. Control characters become blanks: XML 1.0 forbids them, even escaped.
inline std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

}  // namespace supple
