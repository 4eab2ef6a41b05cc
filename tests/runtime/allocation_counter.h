// SPDX-License-Identifier: Apache-2.0
// How often this test program has allocated: it replaces operator new to prove that a step does not.
#pragma once

namespace supple {

long allocation_count();

}  // namespace supple
