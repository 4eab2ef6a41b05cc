// SPDX-License-Identifier: Apache-2.0
// Limbs that pass through each other, resolved into corrections of poses (2016 paper, section 6: "we first resolve
// self-contact at each pose … the contact corrections are simply stored into the PSD correction vector").
//
// Over all clips the depth of the skin inside itself is measured, as it is shown with the character's own shapes. Where
// it is deepest, the skin is pushed out of itself, and what that takes becomes a corrective shape of that moment,
//
//   x(v) = B(v) (rest(v) + own shapes + Σ_k w_k δ_k(v)),   w_k = (1 − s²)³,  s = ‖p − p_k‖ / reach_k < 1
//
// which counts the joints between the parts that meet and fades within its reach (rig/pose_morphs.h). Shapes are solved
// for together, so that all that reach a moment give what it needs in sum: Σ_j w_j(p_k) δ_j = D_k. A correction is
// taken only if no moment of any clip is worse with it than without any, and then the next deepest moment follows,
// until nothing is deeper than a tenth of what it was or nothing helps.
#pragma once

#include "supple/base/progress.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

/// A corrective shape and the moment of a clip that it belongs to.
struct ContactCorrection {
  std::string target;  ///< name of the morph target
  Index clip = 0;
  double time = 0;                  ///< [s]
  std::vector<Index> joints;        ///< that it follows; empty: all
  double reach = 0;                 ///< [rad]
  std::vector<Vec3> displacements;  ///< δ of the rig's vertices, before skinning [m]
};

/// How deep the skin is inside itself over a clip, without and with corrections [m].
struct DepthCurve {
  std::string clip;
  std::vector<double> times, before, after;
  double worst_before() const;
  double worst_after() const;
};

struct ResolvedContacts {
  std::vector<ContactCorrection> corrections;
  std::vector<DepthCurve> curves;  ///< of the clips, in their order
  double worst_before() const;
  double worst_after() const;
};

struct ResolveSettings {
  double aim = 0.1;     ///< share of the depth without corrections that may be left
  int most_poses = 24;  ///< corrections
  double rate = 30;     ///< moments of a clip per second that are looked at, at least two of each
  int most_moments = 600;
};

/// `source` without corrections of its contacts yet. Fails on rigs that don't skin linearly, and when it is cancelled.
Result<ResolvedContacts> resolve_contacts(const CharacterSource& source, const ResolveSettings& settings = {},
                                          Progress& progress = Progress::silent());

/// The source with the corrective shapes in its file, and the corrections in its recipe. As it is where nothing is to
/// be done: no skin enters skin, contacts have been resolved before, or the rig doesn't skin linearly, of which its
/// warnings tell.
Result<CharacterSource> with_contacts_resolved(CharacterSource source, const ResolveSettings& settings = {},
                                               Progress& progress = Progress::silent());

}  // namespace supple
