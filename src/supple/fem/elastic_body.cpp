// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/elastic_body.h"

#include "supple/base/parallel.h"
#include "supple/fem/assembly.h"
#include "supple/fem/material_limits.h"
#include "supple/fem/material_models.h"
#include "supple/fem/posed_rest.h"

#include <fmt/format.h>

#include <variant>

namespace supple {

struct ElasticBody::Data {
  MaterialModel model;
  Index element_count;
  VecX rest_positions;
  double volume;
  std::variant<ElementBatches<4>, ElementBatches<8>> elements;
  BlockMatrix mass;
  VecX lumped_mass;

  /// Calls visit(Assembly<Nodes>{}, batches) for the kind of element this body is made of.
  template <class Visit>
  auto with_elements(const Visit& visit) const {
    if (const auto* tets = std::get_if<ElementBatches<4>>(&elements)) return visit(Assembly<4>{}, *tets);
    return visit(Assembly<8>{}, std::get<ElementBatches<8>>(elements));
  }
};

namespace {

Status check_material(const ElasticMaterial& material) {
  const auto bad = [&](std::string_view what, double value, std::string_view range) {
    return input_error(fmt::format("material \"{}\": {} is {:.9g}, but must be {}", material.name, what, value, range));
  };
  if (!(material.young > 0 && material.young <= stiffest_young))
    return bad("Young's modulus", material.young, "positive and at most 1e15 Pa (diamond has 1e12)");
  if (!(material.density > 0 && material.density <= highest_density))
    return bad("density", material.density, "positive and at most 1e9 kg/m³");
  if (!(material.poisson > -1 && material.poisson <= highest_poisson)) {
    return bad("Poisson's ratio", material.poisson,
               "greater than -1 and less than 0.5, at most 0.4999 (0.49 is nearly incompressible; beyond, elements "
               "can't move)");
  }
  return {};
}

template <int Nodes>
Status check_elements(const VolumeMesh<Nodes>& mesh) {
  const auto count = static_cast<Index>(mesh.vertices.size());
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const Index v : mesh.elements[e]) {
      if (v < 0 || v >= count)
        return input_error(fmt::format("element {} names vertex {}, but there are {}", e, v, count));
    }
    const ElementShape<Nodes> shape = element_shape(element_nodes(mesh, e));
    for (const double weight : shape.weight) {
      if (!(weight > 0)) {
        return input_error(
            fmt::format("element {} is inverted or has no volume; repair the mesh or remove the element", e));
      }
    }
  }
  return {};
}

template <int Nodes>
Status check_element_materials(const VolumeMesh<Nodes>& mesh) {
  if (mesh.materials.empty() || mesh.element_material.empty()) return {};
  if (mesh.element_material.size() != mesh.elements.size()) {
    return input_error(fmt::format("the mesh has {} elements, but names the material of {}", mesh.elements.size(),
                                   mesh.element_material.size()));
  }
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const Index material = mesh.element_material[e];
    if (material < 0 || to_size(material) >= mesh.materials.size()) {
      return input_error(
          fmt::format("element {} names material {}, but there are {}", e, material, mesh.materials.size()));
    }
  }
  return {};
}

template <int Nodes>
Status check_mesh(const VolumeMesh<Nodes>& mesh) {
  if (mesh.elements.empty()) return input_error("the mesh has no elements, so there is nothing to simulate");
  if (mesh.materials.empty()) {
    SUPPLE_RETURN_IF_ERROR(check_material(default_material()));
  }
  for (const ElasticMaterial& material : mesh.materials) SUPPLE_RETURN_IF_ERROR(check_material(material));
  SUPPLE_RETURN_IF_ERROR(check_element_materials(mesh));
  return check_elements(mesh);
}

template <int Nodes>
BlockMatrix consistent_mass_of(const VolumeMesh<Nodes>& mesh, std::shared_ptr<const BlockPattern> pattern) {
  BlockMatrix mass(std::move(pattern));
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto products = shape_products(element_nodes(mesh, e));
    const double density = mesh.material_of(e).density;
    for (int a = 0; a < Nodes; ++a) {
      for (int b = 0; b < Nodes; ++b) {
        mass.block_at(mesh.elements[e][to_size(a)], mesh.elements[e][to_size(b)]).diagonal().array() +=
            density * products(a, b);
      }
    }
  }
  return mass;
}

template <int Nodes>
double volume_of(const VolumeMesh<Nodes>& mesh) {
  double volume = 0;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) volume += element_shape(element_nodes(mesh, e)).volume();
  return volume;
}

template <int Nodes>
double volume_of(const ElementBatches<Nodes>& elements) {
  double volume = 0;
  for (const ElementBatch<Nodes>& batch : elements.batches) {
    for (const Lanes& weight : batch.weight)
      for (int lane = 0; lane < batch.count; ++lane) volume += weight[lane];
  }
  return volume;
}

/// Gradients and volumes of all elements for another rest shape.
template <int Nodes>
void pose_elements(ElementBatches<Nodes>& elements, const VecX& positions) {
  parallel_for(static_cast<std::int64_t>(elements.batches.size()), 64, [&](std::int64_t b) {
    ElementBatch<Nodes>& batch = elements.batches[to_size(b)];
    for (std::size_t point = 0; point < batch.gradient.size(); ++point) {
      Matrix3<Lanes> F = Matrix3<Lanes>::Zero();
      for (int a = 0; a < Nodes; ++a) {
        Eigen::Matrix<Lanes, 3, 1> x;
        for (int i = 0; i < 3; ++i) {
          Lanes value(0.0);
          for (int lane = 0; lane < Lanes::width; ++lane)
            value.set(lane, positions[3 * static_cast<Eigen::Index>(batch.vertex[to_size(a)][to_size(lane)]) + i]);
          x[i] = value;
        }
        F += x * batch.gradient[point].col(a).transpose();
      }
      const PosedRest<Lanes> rest = posed_rest<Lanes>(F);
      batch.gradient[point] = (rest.inverse_transpose * batch.gradient[point]).eval();
      batch.weight[point] *= rest.volume_ratio;
    }
  });
}

}  // namespace

template <int Nodes>
Result<ElasticBody> ElasticBody::create_from(const VolumeMesh<Nodes>& mesh, MaterialModel model) {
  SUPPLE_RETURN_IF_ERROR(check_mesh(mesh));
  auto data = std::make_shared<Data>();
  data->model = model;
  data->element_count = static_cast<Index>(mesh.elements.size());
  data->rest_positions =
      Eigen::Map<const VecX>(mesh.vertices.front().data(), 3 * static_cast<Eigen::Index>(mesh.vertices.size()));
  data->volume = volume_of(mesh);
  const auto pattern = make_block_pattern(static_cast<Index>(mesh.vertices.size()),
                                          {mesh.elements.front().data(), mesh.elements.size() * Nodes}, Nodes);
  data->elements = make_element_batches(mesh, *pattern);
  data->mass = consistent_mass_of(mesh, pattern);
  data->lumped_mass = data->mass * VecX::Ones(data->rest_positions.size());
  ElasticBody body;
  body.data_ = std::move(data);
  return body;
}

Result<ElasticBody> ElasticBody::create(const TetMesh& mesh, MaterialModel model) { return create_from(mesh, model); }
Result<ElasticBody> ElasticBody::create(const HexMesh& mesh, MaterialModel model) { return create_from(mesh, model); }

ElasticBody ElasticBody::posed(const VecX& positions) const {
  auto data = std::make_shared<Data>(*data_);
  data->rest_positions = positions;
  std::visit(
      [&](auto& elements) {
        pose_elements(elements, positions);
        data->volume = volume_of(elements);
      },
      data->elements);
  ElasticBody body;
  body.data_ = std::move(data);
  return body;
}

ElasticBody ElasticBody::with_blended_materials(std::span<const ElasticBody> bodies,
                                                std::span<const double> weights) const {
  auto data = std::make_shared<Data>(*data_);
  std::visit(
      [&](auto& elements) {
        for (std::size_t b = 0; b < elements.batches.size(); ++b) {
          Lame<Lanes> sum{Lanes(0.0), Lanes(0.0)};
          for (std::size_t i = 0; i < bodies.size(); ++i) {
            const auto& own = std::get<std::decay_t<decltype(elements)>>(bodies[i].data_->elements).batches[b].lame;
            sum.mu += Lanes(weights[i]) * own.mu;
            sum.lambda += Lanes(weights[i]) * own.lambda;
          }
          elements.batches[b].lame = sum;
        }
      },
      data->elements);
  ElasticBody body;
  body.data_ = std::move(data);
  return body;
}

Index ElasticBody::vertex_count() const { return data_->mass.rows(); }
Index ElasticBody::element_count() const { return data_->element_count; }
MaterialModel ElasticBody::material() const { return data_->model; }
const VecX& ElasticBody::rest_positions() const { return data_->rest_positions; }
double ElasticBody::volume() const { return data_->volume; }
BlockMatrix ElasticBody::make_matrix() const { return BlockMatrix(data_->mass.shared_pattern()); }
const BlockMatrix& ElasticBody::consistent_mass() const { return data_->mass; }
const VecX& ElasticBody::lumped_mass() const { return data_->lumped_mass; }

double ElasticBody::energy(const VecX& u) const {
  return data_->with_elements(
      [&](auto assembly, const auto& elements) { return assembly.energy(elements, data_->model, u); });
}

void ElasticBody::internal_force(const VecX& u, VecX& f) const {
  data_->with_elements([&](auto assembly, const auto& elements) { assembly.force(elements, data_->model, u, f); });
}

void ElasticBody::internal_force_and_stiffness(const VecX& u, VecX& f, BlockMatrix& K,
                                               HessianProjection projection) const {
  const bool project = projection == HessianProjection::positive_semidefinite;
  data_->with_elements([&](auto assembly, const auto& elements) {
    assembly.force_and_stiffness(elements, data_->model, u, project, f, K);
  });
}

VecX ElasticBody::hessian_product(const VecX& u, const VecX& a, const VecX& b) const {
  VecX result;
  data_->with_elements(
      [&](auto assembly, const auto& elements) { assembly.hessian_product(elements, data_->model, u, a, b, result); });
  return result;
}

double ElasticBody::smallest_volume_ratio(const VecX& u) const {
  return data_->with_elements(
      [&](auto assembly, const auto& elements) { return assembly.smallest_volume_ratio(elements, u); });
}

}  // namespace supple
