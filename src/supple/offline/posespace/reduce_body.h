// SPDX-License-Identifier: Apache-2.0
// ReducedBody: an embedded body brought down to r coordinates around one or several poses, with all that its running
// copies need (2016 paper, sections 5 to 8). Third of the product's road:
//   RawCharacter → EmbeddedBody → ReducedBody → CharacterAsset → CharacterState
#pragma once

#include "supple/offline/contact/self_contact.h"
#include "supple/offline/posespace/bases/align_bases.h"
#include "supple/offline/posespace/bases/choose_size.h"
#include "supple/offline/posespace/bases/pose_bases.h"

namespace supple {

/// A pose besides the neutral one that gets a reduced model of its own.
struct ReducePose {
  std::vector<double> p;
  std::vector<ElasticMaterial> materials;  ///< of each element there; empty: as everywhere
  std::string name = {};                   ///< for reports
};

struct ReduceSettings {
  MaterialModel material = MaterialModel::flesh;
  /// [Hz]; scales the stiffness of all elements so that flesh_frequency() is this. Absent: stiffness as it is.
  std::optional<double> frequency = 4.0;
  double most_acceleration = 0;  ///< that flesh is shaken with while its motion is learnt [m/s²]; 0: any
  double exaggeration = 1;       ///< likewise, of slow motion (runtime/flesh_drive.h)
  int size = 45;                 ///< r; 0: as `automatic` asks
  SizeSettings automatic;        ///< for a body that says nothing of its size
  double cubature_tolerance = 0.02;
  int cubature_elements = 0;  ///< 0: as the tolerance asks
  int cubature_vertices = 0;  ///< 0: as the tolerance asks
  std::vector<ReducePose> poses;
  /// Poses have no bases of their own: one basis, learnt from the bent character, serves all of them, and they only
  /// tell where the skin shall fit. Of materials, patches and contacts that differ between poses it knows nothing.
  bool one_basis = false;
  /// Poses of the clips, some of which are taken as well (choose_poses.h). Between poses whose bases differ by more
  /// than `largest_angle` [rad] another is inserted (2016 paper, 5.1), up to `most_poses` in all, the neutral one
  /// included. An angle of 0 means that none is too large.
  std::vector<ReducePose> candidates;
  double largest_angle = 0;
  int most_poses = 1;
  /// The skin's rig: in every pose of the model the rest shape is fitted to it (Eq. 3). Null: it is what `rest` says.
  std::shared_ptr<const Rig> surface;
  BasisDirections directions = BasisDirections::rotating;
  std::vector<Patch> patches;                  ///< with their numbers of modes; fewer than two: `size` global ones
  std::optional<SelfContactSettings> contact;  ///< what touches in a pose stays as it touches; absent: no contact
  ContactKind contact_kind = ContactKind::sliding;
  FrameSiteSettings frames;
  std::uint64_t seed = 1;
  StageStore* store = &StageStore::none();  ///< that may know bases and cubature of the same body
};

struct ReducedBody {
  std::shared_ptr<const PoseSpaceModel> model;
  TetMesh mesh;                  ///< with the materials that were simulated
  std::vector<Index> fixed;      ///< vertices that follow the rig, with those of pieces that no bone holds
  MatX basis;                    ///< U of the neutral pose over all vertices; UᵀKU is diagonal where bases are global
  std::vector<PoseBasis> poses;  ///< of the model, aligned, the neutral pose first
  std::vector<int> patch_sizes;  ///< columns of each patch
  BasisAlignment alignment;
  std::vector<std::string> pose_names;
  int inserted = 0;             ///< poses, the last ones, that are between others
  std::vector<FitReport> fits;  ///< of every pose but the neutral one; empty where rest shapes weren't fitted
  FrameSites frames;
  std::vector<int> contacts;     ///< vertices in contact in each pose; empty where contact wasn't asked for
  double stiffness_factor = 1;   ///< that Young's moduli were multiplied with
  VecX frequencies;              ///< of the linear modes [Hz]
  double flesh_frequency = 0;    ///< [Hz]
  double most_acceleration = 0;  ///< [m/s²], of the settings
  double exaggeration = 1;       ///< likewise
  double young = 0;              ///< of the softest element [Pa]
  double elastic_error = 0;      ///< of cubature, on samples that weren't trained with, in the poses of the model …
  double posed_error = 0;        ///< … and in others that the character takes …
  double worst_posed_error = 0;  ///< … and in the worst of these
  double inertial_error = 0;     ///< likewise, of the displacements that the forces would hold
  std::optional<double> estimated_error;  ///< against the full simulation, on motion that it hasn't learnt from
  double elastic_training_error = 0;
  double inertial_training_error = 0;
  double frame_error = 0;  ///< [rad], see FrameSites
  double modes_seconds = 0, cubature_seconds = 0;
  std::vector<std::string> warnings;
};

/// `rest`: Φ over the body's mesh. Fails when nothing is free to move.
Result<ReducedBody> reduce_body(const EmbeddedBody& body, std::shared_ptr<const Rig> rest, const KnownMotion& motion,
                                const ReduceSettings& settings = {}, Progress& progress = Progress::silent());

}  // namespace supple
