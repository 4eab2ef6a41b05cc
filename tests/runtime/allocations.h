// SPDX-License-Identifier: Apache-2.0
// Counts what the program allocates, to prove that a step allocates nothing.
#pragma once

namespace supple {

/// Calls of operator new so far.
long allocation_count();

}  // namespace supple
