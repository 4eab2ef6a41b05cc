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
#include "supple/fem/modes.h"
#include "supple/pipeline/character/engine.h"
#include "supple/pipeline/object/scene_mesh.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

struct ViewBlock {
  std::string name;  ///< "model", "asset", "original", or what numbers it holds
  std::string bytes;
};

/// What a page tells of a solid mesh beside its blocks.
struct ViewSolid {
  int nodes = 4;                       ///< of each element
  std::vector<std::string> materials;  ///< by the numbers of the block "materials"
  std::vector<double> frequencies;     ///< of the modes in the block "shapes" [Hz]
};

struct ViewThing {
  std::string kind;           ///< "character", "object", "baked" or "solid"
  std::string name;           ///< what the page is called
  std::string original = {};  ///< file that a baked one is shown beside; empty: none
  bool bind = false;          ///< engines skin the rig otherwise than it was built: displacements go before skinning
  double damping = 0;         ///< ratio that the asset has
  std::vector<std::string> regions = {};  ///< by the numbers of the block "regions"
  std::size_t nodes = 0;  ///< vertices of the mesh that an object's sketches are recorded for; 0: it has none
  std::optional<ViewSolid> solid = {};
  std::vector<ViewBlock> blocks = {};
};

/// The tetrahedra that fill a character, as stiff as engines make them where nobody has given pascals.
struct ViewFlesh {
  EmbeddedBody body;
  std::vector<std::string> regions;   ///< "bone", "flesh", then those of the recipe (BodyRegion)
  std::vector<std::uint32_t> region;  ///< of each tetrahedron: its number among those
};
Result<ViewFlesh> view_flesh(const CharacterSource& source, Progress& progress = Progress::silent(),
                             StageStore& store = StageStore::none());

/// A character that the runtime can play. Fails for engines that it can't. `flesh`: its skin is also coloured by
/// stiffness; null, or another body than the asset's: not.
Result<ViewThing> view_character(const SoftCharacter& soft, const ViewFlesh* flesh = nullptr);
/// The tetrahedra of a character with its skin around them, and the elements of cubature of its asset; null: none.
ViewThing view_tets(const CharacterSource& source, const ViewFlesh& flesh, const Asset* asset = nullptr);
/// A solid mesh with modes of it; null: none.
ViewThing view_solid(const SolidMesh& mesh, const std::string& name, const Modes* modes = nullptr);
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
