// SPDX-License-Identifier: Apache-2.0
// How soft a character feels, for those who think in pictures: four words in place of hertz, ratios and pascals.
//
//             sways so often    damping    farthest, as a share     the skin moves in the liveliest clip,
//             a second          ratio      of what flesh can bear   in % of the height: rms at least, peak
//   subtle    3                 0.3        0.6                      0.25    1 to 5
//   natural   2                 0.2        1                        0.5     2 to 9.5
//   bouncy    1.6               0.12       1.4                      0.75    3 to 13
//   jelly     1.2               0.08       1.8                      1       4 to 18
//
// What is known of the living: bellies of men resonate at 3 to 3.5 Hz, the whole trunk at 4 to 6 (Coermann, Human
// Factors 4, 1962); in hopping the viscera lag by half a period and move by 5 to 8 cm in all (Minetti and Belli, J.
// Biomech. 27, 1994). Muscle swings much faster, at 10 to 50 Hz, and dies away within a period or two (Wakeling and
// Nigg, J. Appl. Physiol. 90, 2001): nobody sees it. Subtle is a belly as it is, natural a fat one that shows in a
// walk, bouncy and jelly are drawings.
//
// The size of a character has no say: files have it in any unit, and animators time a dragon's walk by eye, as a man's.
// Who wants nature's law: strides slow down with mass as M^-0.14 (Heglund, Taylor and McMahon, Science 186, 1974), and
// flesh that follows them by h^-0.42, so an elephant of 3.4 m has 3/4 of a man's frequency.
#pragma once

#include <optional>
#include <string_view>

namespace supple {

struct Recipe;

enum class Feel { subtle, natural, bouncy, jelly };
std::string_view to_string(Feel feel);
std::optional<Feel> feel_from(std::string_view name);

/// How far the skin moves in the liveliest clip, as shares of the height (exaggeration.h).
struct ShownRange {
  double least_rms = 0, least_peak = 0, most_peak = 1;
};

struct FeelNumbers {
  double frequency = 0;  ///< [Hz]
  double damping = 0;    ///< ratio
  double bearable = 0;   ///< share, see bearable_acceleration()
  ShownRange shown;
};
FeelNumbers numbers_of(Feel feel);

/// Whether a height [m] may be meant. Nothing depends on it, but a yeti of 48 m is worth a question.
bool is_height_credible(double height);

/// [Hz] that unpainted flesh shall sway with: the recipe's own or, where it has none, that of its feel.
double wanted_frequency(const Recipe& recipe);
/// The ratio, likewise.
double wanted_damping(const Recipe& recipe);
/// Share of what flesh can bear; 0 where violent moments aren't to be limited.
double bearable_share(const Recipe& recipe);

}  // namespace supple
