#include "graph_edits.h"

#include <array>
#include <limits>
#include <vector>

#include "base/bytes.h"
#include "ops/op.h"

namespace executorch::backends::webgpu {

namespace {

constexpr auto kIntegers = std::to_array<int64_t>({0,
                                                   1,
                                                   -1,
                                                   2,
                                                   3,
                                                   4,
                                                   5,
                                                   7,
                                                   8,
                                                   16,
                                                   31,
                                                   64,
                                                   255,
                                                   256,
                                                   1000,
                                                   65536,
                                                   -2,
                                                   -8,
                                                   1 << 30,
                                                   std::numeric_limits<int32_t>::max(),
                                                   std::numeric_limits<int32_t>::min(),
                                                   int64_t{1} << 32,
                                                   std::numeric_limits<int64_t>::max(),
                                                   std::numeric_limits<int64_t>::min()});
constexpr auto kDoubles = std::to_array<double>(
    {0, 1, -1, 0.5, 1e-5, 1e30, -1e300, 1e-320, std::numeric_limits<double>::max(),
     std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
     std::numeric_limits<double>::quiet_NaN(), 2147483648.0, 9.3e18});
constexpr auto kSizes =
    std::to_array<int64_t>({0,  1,  2,  3,   4,   5,    7,    8,     15,    16,      17,
                            31, 64, 65, 127, 256, 1000, 4096, 65535, 65537, 1 << 20, 1 << 28});
constexpr auto kTypes = std::to_array<DType>(
    {DType::kBool, DType::kUInt8, DType::kInt8, DType::kInt32, DType::kFloat16, DType::kFloat32});

struct Edit {
  uint8_t kind, part;
  uint16_t index;
  uint32_t number;
};

template <typename T, typename N>
auto& pick(T& choices, N number) {
  return choices[static_cast<size_t>(number) % choices.size()];
}

size_t args_of(const Op& op) {
  size_t count = 0;
  for (char c : op.signature.substr(0, op.signature.find("->"))) {
    count += c == ' ' || c == '?' ? 0 : 1;
  }
  return count;
}

class Editor {
 public:
  explicit Editor(Graph& graph) : graph_(graph) {}

  void apply(const Edit& edit) {
    switch (edit.kind % 6) {
      case 0:
        return rename(edit);
      case 1:
        return replace_argument(edit);
      case 2:
        return change_number(edit);
      case 3:
        return change_dims(edit);
      case 4:
        return change_type(edit);
      case 5:
        return change_rank(edit);
    }
  }

 private:
  // Another operator that takes as many arguments.
  void rename(const Edit& edit) {
    if (graph_.nodes.empty()) return;
    Node& node = pick(graph_.nodes, edit.index);
    std::vector<std::string_view> names;
    for (const Op& op : all_ops()) {
      if (args_of(op) == node.args.size()) names.push_back(op.name);
    }
    if (!names.empty()) node.op = pick(names, edit.number);
  }

  void replace_argument(const Edit& edit) {
    if (graph_.nodes.empty()) return;
    const size_t at = edit.index % graph_.nodes.size();
    Node& node = graph_.nodes[at];
    const std::vector<ValueId> readable = readable_at(at);
    if (!node.args.empty() && !readable.empty()) {
      pick(node.args, edit.part) = pick(readable, edit.number);
    }
  }

  // What the node may read: what the file fixes, what is passed in, and what was written before.
  std::vector<ValueId> readable_at(size_t at) const {
    std::vector<bool> known(graph_.values.size());
    for (ValueId id : graph_.inputs) known[static_cast<size_t>(id)] = true;
    for (size_t i = 0; i < at; ++i) {
      for (ValueId id : graph_.nodes[i].outputs) known[static_cast<size_t>(id)] = true;
    }
    const auto is_known = [&](ValueId id) {
      const Tensor* tensor = graph_.tensor(id);
      const bool fixed = tensor != nullptr ? tensor->constant >= 0
                                           : !std::holds_alternative<SymInt>(graph_.value(id));
      return fixed || known[static_cast<size_t>(id)];
    };
    std::vector<ValueId> ids;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      bool ok = is_known(id);
      if (const auto* list = std::get_if<ValueList>(&graph_.value(id))) {
        for (ValueId item : list->items) ok = ok && is_known(item);
      }
      if (ok) ids.push_back(id);
    }
    return ids;
  }

  void change_number(const Edit& edit) {
    if (graph_.values.empty()) return;
    Value& value = pick(graph_.values, edit.index);
    if (auto* symbol = std::get_if<SymInt>(&value)) {
      symbol->max_value = pick(kIntegers, edit.number);
    } else if (auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
      if (edit.part == 0) {
        integers->resize(integers->size() + 1 + edit.number / 256 % 12,
                         pick(kIntegers, edit.number));
      }
      if (!integers->empty()) pick(*integers, edit.part) = pick(kIntegers, edit.number);
      if (edit.part == 255 && !integers->empty()) integers->pop_back();
    } else if (auto* doubles = std::get_if<std::vector<double>>(&value)) {
      if (!doubles->empty()) pick(*doubles, edit.part) = pick(kDoubles, edit.number);
    } else if (std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
               std::holds_alternative<bool>(value) || std::holds_alternative<Null>(value)) {
      if (is_written(edit.index % graph_.values.size())) return;
      if (edit.part % 4 == 0) value = pick(kDoubles, edit.number);
      if (edit.part % 4 == 1) value = edit.number % 2 == 0;
      if (edit.part % 4 == 2) value = Null{};
      if (edit.part % 4 == 3) value = pick(kIntegers, edit.number);
    }
  }

  bool is_written(size_t index) const {
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.outputs) {
        if (static_cast<size_t>(id) == index) return true;
      }
    }
    return false;
  }

  Tensor* tensor_at(const Edit& edit) {
    if (graph_.values.empty()) return nullptr;
    // Most values are not tensors: look on from there.
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (auto* tensor = std::get_if<Tensor>(&pick(graph_.values, edit.index + i))) return tensor;
    }
    return nullptr;
  }

  // A constant must stay as long as its tensor: it becomes another one.
  void set(Tensor& tensor, DType dtype, const Shape& dims) {
    if (!bounded_numel(dims, uint64_t{1} << 32)) return;
    tensor.dtype = tensor.staging = dtype;
    tensor.max_dims = dims;
    if (tensor.constant < 0) return;
    Constant constant;
    constant.key = "edited";
    constant.nbytes = static_cast<uint64_t>(dims.numel()) * size_of(dtype);
    tensor.constant = static_cast<int32_t>(graph_.constants.size());
    graph_.constants.push_back(constant);
  }

  void change_dims(const Edit& edit) {
    Tensor* tensor = tensor_at(edit);
    if (tensor == nullptr || tensor->max_dims.rank() == 0) return;
    Shape dims = tensor->max_dims;
    dims[edit.part % dims.rank()] = pick(kSizes, edit.number);
    set(*tensor, tensor->dtype, dims);
  }

  void change_type(const Edit& edit) {
    Tensor* tensor = tensor_at(edit);
    if (tensor != nullptr) set(*tensor, pick(kTypes, edit.number), tensor->max_dims);
  }

  void change_rank(const Edit& edit) {
    Tensor* tensor = tensor_at(edit);
    if (tensor == nullptr) return;
    const int rank = tensor->max_dims.rank();
    Shape dims(tensor->max_dims.span().first(
        static_cast<size_t>(edit.part % 2 == 0 ? rank : std::max(rank - 1, 0))));
    if (edit.part % 2 == 0 && rank < kMaxRank) dims.push_back(pick(kSizes, edit.number));
    set(*tensor, tensor->dtype, dims);
  }

  Graph& graph_;
};

}  // namespace

std::span<const uint8_t> edits_of(std::span<const uint8_t> data) {
  if (data.size() < kTrailerBytes) return {};
  const auto trailer = data.last(kTrailerBytes);
  const size_t length = trailer[3] * kEditBytes;
  if (trailer[0] != 'E' || trailer[1] != 'D' || trailer[2] != 'T' ||
      data.size() < kTrailerBytes + length) {
    return {};
  }
  return data.subspan(data.size() - kTrailerBytes - length, length);
}

void edit_graph(Graph& graph, std::span<const uint8_t> edits) {
  for (; edits.size() >= kEditBytes; edits = edits.subspan(kEditBytes)) {
    const Bytes bytes = std::as_bytes(edits);
    Editor(graph).apply(
        {edits[0], edits[1], load_le<uint16_t>(bytes, 2), load_le<uint32_t>(bytes, 4)});
  }
}

}  // namespace executorch::backends::webgpu
