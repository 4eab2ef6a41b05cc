// SPDX-License-Identifier: Apache-2.0
// What a computation will take, told before it is begun: running out of memory takes the machine along, and names
// neither the file nor the number at fault.
#pragma once

#include "supple/base/result.h"

#include <string_view>

namespace supple {

/// The memory that this process can have [bytes]: the machine's, or less where a limit is set on it.
double memory_limit();

/// Fails when `bytes` are more than that. The sentence begins with `what`, such as "500 modes with their derivatives",
/// and ends with the way out.
Status check_memory(double bytes, std::string_view what, std::string_view way_out);

}  // namespace supple
