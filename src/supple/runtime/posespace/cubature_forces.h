// SPDX-License-Identifier: Apache-2.0
// CubatureForces: elastic force and stiffness of a PoseSpaceModel, in the nine-dimensional space of the deformation
// gradients of its cubature elements (2016 paper, Eq. 21 and 22).
//
// Around the rest shape of a pose an element sees  F = 1 + ∇u = 1 + G F_Φ⁻¹,  vec(G) = D_e q,  G = ∂u/∂X. Bases are
// kept turned back, by the element's rotation R in the poses that are known: u = R û. Energy doesn't depend on how the
// element is turned, so with F_Φ = R S
//   Ψ(F) = Ψ(Rᵀ F R) = Ψ(1 + Ĝ S⁻¹),   vec(Ĝ) = D_e q,  D_e = Σ_i w_i D_e,i Υ
// (with directions of the world: Ψ(1 + G F_Φ⁻¹)). The chain rule through B = S⁻¹ or F_Φ⁻¹ acts on nine numbers of an
// element, not on its r columns: with the weight w,
//   energy = Σ w Ψ      f̃ = Σ w D_eᵀ vec(P Bᵀ)      K̃ x = Σ w D_eᵀ vec((∂P/∂F : Y B) Bᵀ),   vec(Y) = D_e x
// K̃ itself is never summed: that would take 9 r²/2 multiplications an element, a product with it takes 18 r. Nor is
// ∂P/∂F: the material that was found at F says what it makes of a direction.
//
// To energy, force and stiffness the corrections C of the poses' linear responses are added
// (asset/pose_space_model.h): with s = ½ qᵀ C q, t = 1 where s ≥ 0 and 1/(1 − s/s₀) elsewhere
//   s t      t² C q      t² C + 2 t³/s₀ (Cq)(Cq)ᵀ where s < 0
// Between known poses the rotation counts as constant in an element. Bases that were made at rest need that: R is a
// choice of directions, and with its gradient flesh would be strained wherever limbs bend, however little it moves.
//
// Bases that were learnt from flesh in bent poses know how to undo that strain, and then it has to be exact
// (PoseSpaceModel::exact_strain; measured: docs/theory.md). Corner k of an element is at û_k, turned by its own R_k,
//   V = (R_k û_k − R_0 û_0)_k=1,2,3 = (R_k δ_k + (R_k − R_0) û_0)_k,   δ_k = û_k − û_0
//   F = 1 + V E⁻¹ F_Φ⁻¹,   E the edges of the neutral pose
// so that B = E⁻¹ F_Φ⁻¹ and D_e q are the twelve numbers (δ, û_0), four thirds of the memory. The stiffness at rest now
// differs from pose to pose, and damping is made of that of the elements: with μ, λ of Lamé
//   K̃_0 x = Σ w D_eᵀ [(μ (Y + Yᵀ) + λ tr(Y)) Bᵀ],   Λ̃ = K̃_0 + C
#pragma once

#include "supple/fem/material_models.h"
#include "supple/runtime/posespace/pose_interpolation.h"

#include <limits>
#include <type_traits>
#include <variant>

namespace supple {

template <class T>
class CubatureForces {
 public:
  static constexpr int width = PosedTets<T>::width;

  CubatureForces() = default;
  explicit CubatureForces(std::shared_ptr<const PreparedModel<T>> prepared);

  int size() const { return prepared_->size; }
  int stride() const { return prepared_->stride; }

  /// Says which coordinates count from the next set_pose() on; all others must be zero. Allocates nothing.
  void keep(const KeptColumns& columns);
  /// Sets the rest shape: a pose p, and where the model's points are in it.
  /// `frames`, those of the same positions, are needed where strain is exact.
  void set_pose(std::span<const double> p, std::span<const Vec3> positions, const FrameField<T>* frames = nullptr);
  /// Gives the bases, weights and matrices as they are blended in the pose.
  const PoseInterpolation<T>& pose() const { return pose_; }

  /// Computes force and stiffness at q, which is padded to stride(), and returns the elastic energy there [J].
  T evaluate(const T* q);
  /// Adds the force of the last evaluate() to f.
  void add_force(T* f) const;
  /// y += (K̃ − C) x of the last evaluate(): what changes with q. Of C that is next to nothing, unless flesh is far out.
  /// With exact strain the elements' part of the damping comes along: set_damping().
  void multiply_changing(const T* x, T* y);
  /// Says how many times K̃_0 multiply_changing() adds. Nothing where damping is a matrix (PoseInterpolation).
  void set_damping(T factor) { damping_ = prepared_->model->exact_strain ? factor : T(0); }
  /// Adds `factor` times Λ̃ x, the stiffness at rest that damping is made of, to y.
  void multiply_rest(T factor, const T* x, T* y);
  /// Adds K̃ x to y.
  void multiply_stiffness(const T* x, T* y);
  /// Gives the elastic energy at q [J], and leaves the last evaluate() as it is.
  T energy(const T* q);

  // The way that conjugate gradients go, Σ_k length_k x_k over directions x_k that K̃ was multiplied with: strain along
  // it is the sum of theirs, and no gradient has to be read again to know the energy there.
  void start_path();
  /// Goes on along the direction of the last multiply_changing(), by `length` times it.
  void go_on(T length);
  /// Adds what the corrections C say of the path, which has come to x, and returns xᵀ C x. Has to be called before
  /// energy_along().
  T correct_path(const T* x);
  /// Gives the damping's part of xᵀ K̃_0 x along the path to x.
  T damping_along_path() const;
  /// Elastic energy where the last evaluate() was, and from there so many times the path [J].
  T energy_along(T length) const;

  /// An energy that would stretch all flesh to some five times its length [J]. More than this is no motion of a
  /// character.
  T absurd_energy() const { return T(1e4) * modulus_; }
  /// Differences of energy below this are rounding errors [J].
  T energy_noise() const { return T(64) * std::numeric_limits<T>::epsilon() * modulus_; }
  /// Energy of the motion that rounding of the forces makes [J]: strains are differences from one.
  T force_noise() const {
    return T(64) * std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon() * modulus_;
  }

 private:
  using Lanes = Pack<T, width>;
  using LaneMatrix = Eigen::Matrix<Lanes, 3, 3>;
  using Materials = std::variant<std::vector<LinearModel<Lanes>>, std::vector<CorotationalModel<Lanes>>,
                                 std::vector<StVKModel<Lanes>>, std::vector<NeoHookeanModel<Lanes>>,
                                 std::vector<StableNeoHookeanModel<Lanes>>, std::vector<FleshModel<Lanes>>>;
  using Stored = typename PreparedElements<T>::Stored;

  /// How the corners of a batch of elements turn: R_k, and R_k − R_0, for k = 1, 2, 3.
  struct CornerTurns {
    std::array<LaneMatrix, 3> R, difference;
  };
  template <std::size_t rows>
  using Numbers = std::array<Lanes, rows>;

  /// What a block of elements has that changes while time runs.
  struct Block {
    std::vector<ColumnRun> runs;  ///< the runs of its columns that are kept
    std::vector<Lanes> weight, mu, lambda;
    std::vector<LaneMatrix> B;
    std::vector<CornerTurns> turns;       ///< with exact strain only
    std::vector<LaneMatrix> F, dF, path;  ///< of the last evaluate(), multiply_changing(), and of the way
    std::vector<Stored> blended;          ///< D of the pose; empty where the model has one pose
    Materials materials;                  ///< at F of the last evaluate()
  };

  void pose_block(std::span<const Vec3> positions, const FrameField<T>* frames, const PreparedElements<T>& prepared,
                  Block& block);
  /// The change of a batch's deformation gradients that the numbers D x of its elements make …
  template <std::size_t rows>
  static LaneMatrix strain(const Block& block, std::size_t batch, const Numbers<rows>& y);
  /// … and what a stress there means for these numbers: the transposed map.
  template <std::size_t rows>
  static Numbers<rows> pulled_back(const Block& block, std::size_t batch, const LaneMatrix& stress);
  /// μ (Y + Yᵀ) + λ tr(Y): what all materials are like at rest.
  static LaneMatrix rest_stress(const Block& block, std::size_t batch, const LaneMatrix& Y);
  /// Calls body(rows) with the number of rows that this model's elements have, as a constant.
  template <class Body>
  auto with_rows(const Body& body) const {
    if (prepared_->model->exact_strain) return body(std::integral_constant<std::size_t, 12>{});
    return body(std::integral_constant<std::size_t, 9>{});
  }
  /// Gives D of a block in the present pose, laid out as PreparedElements::gradients of one pose.
  const Stored* gradients(std::size_t block) const;
  /// Evaluates the material of each batch, adds Dᵀ s to sums_, and returns the energy.
  template <class Model, std::size_t rows>
  T evaluate_block(const PreparedElements<T>& prepared, const Stored* D, Block& block);
  template <std::size_t rows>
  void multiply_block(const PreparedElements<T>& prepared, const Stored* D, Block& block);
  template <std::size_t rows>
  void multiply_block_at_rest(const PreparedElements<T>& prepared, const Stored* D, const Block& block);
  template <class Model, std::size_t rows>
  T block_energy(const PreparedElements<T>& prepared, const Stored* D, const Block& block) const;
  /// Own coordinates of a block into q_, scaled as its gradients are stored, and what it has in sums_ out to all.
  void gather(const PreparedElements<T>& prepared, const T* all);
  void clear_sums(const PreparedElements<T>& prepared);
  void scatter_sums(const PreparedElements<T>& prepared, T* all) const;
  /// What the correction C contributes at a q.
  struct Corrected {
    std::vector<T> product;  ///< C q
    T s, energy, t;
  };
  /// Gives the factor t that limits negative energy, for s = ½ qᵀ C q.
  T limited(T s) const {
    return s < T(0) ? T(1) / (T(1) - s / static_cast<T>(prepared_->model->correction_limit)) : T(1);
  }
  void correct(const T* q, Corrected& corrected) const;

  std::shared_ptr<const PreparedModel<T>> prepared_;
  PoseInterpolation<T> pose_;
  std::vector<Block> blocks_;
  Corrected corrected_;                          ///< in the last evaluate() …
  Corrected elsewhere_;                          ///< … and in energy()
  T path_slope_ = T(0), path_curvature_ = T(0);  ///< xᵀ C q and xᵀ C x of a path to x
  std::vector<T> force_;                         ///< f̃ of the last evaluate()
  std::vector<T> product_;
  std::vector<T> q_;                                        ///< the coordinates of the block at hand
  std::vector<Lanes> sums_;                                 ///< Dᵀs of a block, still apart by lanes
  std::vector<typename PoseInterpolation<T>::Term> terms_;  ///< summands of a block's blended columns …
  std::vector<std::uint32_t> ends_;                         ///< … and for each column, where its own end
  T damping_ = T(0);                                        ///< how many times K̃_0 is part of the equations
  T modulus_ = T(0);  ///< Σ w (μ + λ): energies are differences of numbers of this size
};

extern template class CubatureForces<float>;
extern template class CubatureForces<double>;

}  // namespace supple
