// SPDX-License-Identifier: Apache-2.0
// StageStore: results of the stages of a build, found again by the content of what they are made from. A stage that
// finds its result doesn't run; what can't be read is made anew, so a store can only save time, never change a result.
#pragma once

#include "supple/base/content_hash.h"

#include <optional>

namespace supple {

class StageStore {
 public:
  virtual ~StageStore() = default;

  /// The bytes that were kept, whole and as they were.
  virtual std::optional<std::string> find(std::string_view stage, const ContentHash& content) = 0;
  virtual void keep(std::string_view stage, const ContentHash& content, std::string_view bytes) = 0;

  /// Gives a store that keeps nothing and finds nothing.
  static StageStore& none();
};

/// What the store has, or what `make` makes, which is then kept. `decode(bytes)` and `make()` give a Result<T>,
/// `encode(value)` a string.
template <class Make, class Encode, class Decode>
auto find_or_make(StageStore& store, std::string_view stage, const ContentHash& content, Make&& make, Encode&& encode,
                  Decode&& decode) -> decltype(make()) {
  if (const std::optional<std::string> bytes = store.find(stage, content)) {
    if (auto found = decode(*bytes); found.ok()) return found;
  }
  auto made = make();
  if (made.ok() && &store != &StageStore::none()) store.keep(stage, content, encode(*made));
  return made;
}

}  // namespace supple
