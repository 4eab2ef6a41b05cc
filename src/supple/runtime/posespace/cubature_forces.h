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
// Between known poses the rotation counts as constant in an element. Taking its gradient
// along would strain flesh wherever limbs bend, however little it moves: R is a choice of directions, blended from few
// sites, and its wrinkles are not the body's (measured: docs/theory.md).
#pragma once

#include "supple/fem/material_models.h"
#include "supple/runtime/posespace/pose_interpolation.h"

#include <limits>
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
  void set_pose(std::span<const double> p, std::span<const Vec3> positions);
  /// Gives the bases, weights and matrices as they are blended in the pose.
  const PoseInterpolation<T>& pose() const { return pose_; }

  /// Computes force and stiffness at q, which is padded to stride(), and returns the elastic energy there [J].
  T evaluate(const T* q);
  /// Adds the force of the last evaluate() to f.
  void add_force(T* f) const;
  /// y += (K̃ − C) x of the last evaluate(): what changes with q. Of C that is next to nothing, unless flesh is far out.
  void multiply_changing(const T* x, T* y);
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

  /// What a block of elements has that changes while time runs.
  struct Block {
    std::vector<ColumnRun> runs;  ///< the runs of its columns that are kept
    std::vector<Lanes> weight, mu, lambda;
    std::vector<LaneMatrix> B;
    std::vector<LaneMatrix> F, dF, path;  ///< of the last evaluate(), multiply_changing(), and of the way
    std::vector<Stored> blended;          ///< D of the pose; empty where the model has one pose
    Materials materials;                  ///< at F of the last evaluate()
  };

  void pose_block(std::span<const Vec3> positions, const PreparedElements<T>& prepared, Block& block);
  /// Gives D of a block in the present pose, laid out as PreparedElements::gradients of one pose.
  const Stored* gradients(std::size_t block) const;
  /// Evaluates the material of each batch, adds Dᵀ s to sums_, and returns the energy.
  template <class Model>
  T evaluate_block(const PreparedElements<T>& prepared, const Stored* D, Block& block);
  template <class Model>
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
  T modulus_ = T(0);  ///< Σ w (μ + λ): energies are differences of numbers of this size
};

extern template class CubatureForces<float>;
extern template class CubatureForces<double>;

}  // namespace supple
