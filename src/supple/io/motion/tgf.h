// SPDX-License-Identifier: Apache-2.0
// TGF: handles of a body as a graph, in the reading that libigl and the authors of bounded biharmonic weights give it.
//
//   1  x y z            a place for each line: its number, then where it is
//   #
//   1 2  1 0 0 0        an edge: two numbers, then flags: bone, pseudo-edge, edge of a cage; bare edges are bones
//
// A bone runs from its first place to its second; its parent is the bone that ends where it begins. Places at no bone
// are point handles. Weights have a column for each point in the order of the places, then one for each bone. A
// pseudo-edge only draws a line between two points. Cages are refused: a blend of their corners isn't one of frames.
#pragma once

#include "supple/io/motion/handle_rig.h"

#include <filesystem>
#include <string_view>

namespace supple {

Result<HandleRig> parse_tgf(std::string_view text, const std::string& name);
Result<HandleRig> load_tgf(const std::filesystem::path& path);

}  // namespace supple
