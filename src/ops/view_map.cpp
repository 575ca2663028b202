#include "ops/view_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace executorch::backends::webgpu {

namespace {

// Product of the sizes of dims [from, to).
LiveFn product(const std::vector<ViewDim>& dims, size_t from, size_t to) {
  std::vector<LiveFn> sizes;
  for (size_t i = from; i < to; ++i) sizes.push_back(dims[i].size);
  return [sizes = std::move(sizes)](const LiveValues& live) {
    uint32_t n = 1;
    for (const LiveFn& size : sizes) n *= size(live);
    return n;
  };
}

// A divisor of an index must not be 0; with an empty tensor no invocation gets that far.
LiveFn at_least_one(LiveFn fn) {
  return [fn = std::move(fn)](const LiveValues& live) { return std::max(fn(live), 1u); };
}

}  // namespace

void emit_view(KernelBuilder& kernel, std::string_view name, ValueId source, const ViewMap& map) {
  kernel.input(name, source);
  std::string sum;
  const auto add = [&](const std::string& term) { sum += (sum.empty() ? "" : " + ") + term; };
  if (map.base) {
    kernel.param(fmt::format("{}_base", name), map.base);
    add(fmt::format("p.{}_base", name));
  }
  const size_t rank = map.dims.size();
  for (size_t first = 0; first < rank;) {
    // A run of dims that one stride walks, or that all broadcast, is one term.
    size_t last = first;
    while (last + 1 < rank && map.dims[last].joins_next) ++last;
    if (!map.dims[first].broadcast) {
      std::string coordinate = "i";
      if (last + 1 < rank) {
        kernel.param(fmt::format("{}_inner{}", name, first),
                     at_least_one(product(map.dims, last + 1, rank)));
        coordinate = fmt::format("i / p.{}_inner{}", name, first);
      }
      if (first > 0) {
        kernel.param(fmt::format("{}_size{}", name, first),
                     at_least_one(product(map.dims, first, last + 1)));
        coordinate = fmt::format("({}) % p.{}_size{}", coordinate, name, first);
      }
      kernel.param(fmt::format("{}_stride{}", name, first), map.dims[last].stride);
      add(fmt::format("({}) * p.{}_stride{}", coordinate, name, first));
    }
    first = last + 1;
  }
  kernel.code(fmt::format("fn {}_at(i: u32) -> u32 {{\n  return {};\n}}\n", name,
                          sum.empty() ? "0u" : sum));

  const char* type = kernel.is_float_value(source) ? "V" : "I";
  std::string value;
  const auto inner = kernel.general() ? ViewMap::Inner::kAny : map.inner;
  if (kernel.lanes() == Lanes::k4 && inner != ViewMap::Inner::kAny && map.inner_applies) {
    kernel.require(map.inner_applies);
  }
  if (kernel.lanes() == Lanes::k1) {
    value = fmt::format("{0}1({0}_at(i))", name);
  } else if (inner == ViewMap::Inner::kContiguous) {
    value = fmt::format("{0}4({0}_at(i * 4u) >> 2u)", name);
  } else if (inner == ViewMap::Inner::kSame) {
    value = fmt::format("{1}({0}1({0}_at(i * 4u)))", name, type);
  } else {
    value = fmt::format(
        "{1}({0}1({0}_at(i * 4u)), {0}1({0}_at(i * 4u + 1u)), {0}1({0}_at(i * 4u + 2u)), "
        "{0}1({0}_at(i * 4u + 3u)))",
        name, type);
  }
  kernel.code(fmt::format("fn {}_view(i: u32) -> {} {{\n  return {};\n}}\n", name, type, value));
}

LiveFn size_of_dim(ValueId tensor, int dim) {
  return [tensor, dim](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(tensor)[dim]);
  };
}

LiveFn stride_of_dim(ValueId tensor, int dim, int64_t factor) {
  return [tensor, dim, factor](const LiveValues& live) {
    const Shape& dims = live.dims(tensor);
    // Wraps where the factor is the step of a slice that takes no second step.
    return static_cast<uint32_t>(dims.numel(dim + 1, dims.rank())) * static_cast<uint32_t>(factor);
  };
}

void keep_last_dim(ViewMap& map, ValueId source) {
  map.inner = ViewMap::Inner::kContiguous;
  map.inner_applies = [source](const LiveValues& live) {
    return live.dims(source).last(0) % 4 == 0;
  };
}

ViewMap identity_map(const Graph& graph, ValueId tensor) {
  const int rank = graph.tensor(tensor)->max_dims.rank();
  ViewMap map;
  for (int d = 0; d < rank; ++d) {
    ViewDim dim;
    dim.size = size_of_dim(tensor, d);
    dim.stride = stride_of_dim(tensor, d);
    dim.joins_next = d + 1 < rank;
    map.dims.push_back(std::move(dim));
  }
  return map;
}

ViewMap broadcast_map(const Graph& graph, ValueId operand, ValueId out) {
  const Shape& from = graph.tensor(operand)->max_dims;
  const Shape& to = graph.tensor(out)->max_dims;
  const int shift = to.rank() - from.rank();
  const auto is_broadcast = [&](int d) {
    return d < shift || (from[d - shift] == 1 && to[d] != 1);
  };
  ViewMap map;
  for (int d = 0; d < to.rank(); ++d) {
    ViewDim dim;
    dim.size = size_of_dim(out, d);
    dim.broadcast = is_broadcast(d);
    if (!dim.broadcast) dim.stride = stride_of_dim(operand, d - shift);
    dim.joins_next = d + 1 < to.rank() && dim.broadcast == is_broadcast(d + 1);
    map.dims.push_back(std::move(dim));
  }
  if (to.last(0) % 4 == 0 && to.rank() > 0) {
    map.inner = is_broadcast(to.rank() - 1) ? ViewMap::Inner::kSame : ViewMap::Inner::kContiguous;
    map.inner_applies = [out](const LiveValues& live) { return live.dims(out).last(0) % 4 == 0; };
  }
  return map;
}

}  // namespace executorch::backends::webgpu
