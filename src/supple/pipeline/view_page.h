// SPDX-License-Identifier: Apache-2.0
// The page of `supple view`: one HTML file that shows a thing and needs nothing else, neither a server nor the network.
//
//   web/ ─ ./go web ─→ view.html, empty    ─┐
//   character, asset ─ view_character ─→ ViewThing ┴─ fill_view_page ─→ page.html
//
// A thing is a description and blocks of bytes. They stand in the page as compressed base64 in elements that browsers
// take for data; the scripts that read them were built with the page, and its policy allows no others.
#pragma once

#include "supple/base/result.h"
#include "supple/pipeline/character/engine.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

struct ViewBlock {
  std::string name;  ///< "model", "asset" or "original"
  std::string bytes;
};

struct ViewThing {
  std::string kind;           ///< "character", "object" or "baked"
  std::string name;           ///< what the page is called
  std::string original = {};  ///< file that a baked one is shown beside; empty: none
  bool bind = false;          ///< engines skin the rig otherwise than it was built: displacements go before skinning
  double damping = 0;         ///< ratio that the asset has
  std::vector<ViewBlock> blocks = {};
};

/// A character that the runtime can play. Fails for engines that it can't.
Result<ViewThing> view_character(const SoftCharacter& soft);
/// A deformable object or one of many parts, from its asset. Fails for assets of characters.
Result<ViewThing> view_object(const std::filesystem::path& asset);
/// A baked file, with its original where that isn't empty.
Result<ViewThing> view_baked(const std::filesystem::path& baked, const std::filesystem::path& original);

/// The page that `./go web` has built with a thing in it. Fails where `page` isn't such a page.
Result<std::string> fill_view_page(std::string_view page, const ViewThing& thing);

/// The page that belongs to this program: installed with it, or built beside it. Fails with a sentence that says how to
/// get one.
Result<std::filesystem::path> find_view_page();

}  // namespace supple
