// SPDX-License-Identifier: Apache-2.0
// Progress: long work tells how far it is; the caller decides what to make of it (a bar on a terminal, nothing in a
// pipe, a widget) and may ask the work to stop.
#pragma once

#include <string_view>

namespace supple {

class Progress {
 public:
  virtual ~Progress() = default;

  /// A new stage begins, such as "assembling" or "computing modes".
  virtual void stage(std::string_view name) = 0;

  /// Share of the current stage that is done, from 0 to 1. Cheap enough to call in a loop.
  virtual void update(double fraction) = 0;

  /// True when the user asked to stop; the work then returns an Error as soon as it can.
  virtual bool cancelled() const { return false; }

  /// Gives a Progress that tells nobody and is never cancelled.
  static Progress& silent();
};

}  // namespace supple
