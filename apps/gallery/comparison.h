// SPDX-License-Identifier: Apache-2.0
// A character beside its baked self: where and when they are farthest apart.
//
//   displacement_v(t) = |soft_v(t) − rigid_v(t)|, in the world, per vertex of the file
#pragma once

#include "played_character.h"

namespace supple {

class Comparison {
 public:
  /// Error where the files don't show the same meshes: same nodes, primitives and vertex counts.
  static Result<Comparison> create(PlayedCharacter rigid, PlayedCharacter soft);

  struct Clips {
    std::string name;
    std::size_t rigid = 0, soft = 0;  ///< numbers in the two files
  };
  /// Those that both files have, by name, or by number where names are missing or repeated.
  const std::vector<Clips>& clips() const { return clips_; }
  const PlayedCharacter& rigid() const { return rigid_; }
  const PlayedCharacter& soft() const { return soft_; }

  struct Moment {
    std::size_t clip = 0;  ///< of clips()
    double time = 0;
    double largest = 0;  ///< displacement, as a part of the height
  };
  /// Of `per_second` moments a second of every clip, the one with the largest displacement.
  Result<Moment> most_displaced(double per_second) const;

  struct Positions {
    std::vector<Vec3> rigid, soft;  ///< in the order of rigid's vertices
  };
  Positions at(std::size_t clip, double time) const;
  static std::vector<double> displacement(const Positions& positions);

 private:
  Comparison(PlayedCharacter rigid, PlayedCharacter soft) : rigid_(std::move(rigid)), soft_(std::move(soft)) {}
  Status match_parts() const;
  void match_clips();

  PlayedCharacter rigid_, soft_;
  std::vector<Clips> clips_;
};

}  // namespace supple
