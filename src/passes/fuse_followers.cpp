#include <algorithm>
#include <optional>
#include <set>

#include "passes/passes.h"
#include "passes/uses.h"

namespace executorch::backends::webgpu {

namespace {

// Works on a list of nodes in which fused ones are marked as gone.
class FollowerFusion {
 public:
  FollowerFusion(Graph& graph, const TraitsOf& traits, const PassOptions& options)
      : graph_(graph),
        traits_(traits),
        options_(options),
        uses_(graph),
        gone_(graph.nodes.size()),
        result_of_(graph.values.size(), -1),
        constant_(graph.values.size()) {
    for (size_t i = 0; i < graph.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      constant_[i] = graph.tensor(id) != nullptr && tensor(id).constant >= 0 && !is_state(id);
    }
  }

  void run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      note_constants(node);
      if (traits_(node.op).kind == OpKind::kPointwise) {
        if (const auto producer = best_producer(i)) absorb(*producer, i);
      }
      if (!gone_[i]) note_result(i);
    }
    size_t next = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return gone_[next++]; });
  }

 private:
  // A producer for the pointwise node and the views between them, nearest the producer first.
  struct Candidate {
    size_t producer;
    std::vector<size_t> views;
  };

  const Tensor& tensor(ValueId id) const { return *graph_.tensor(id); }

  void note_result(size_t i) {
    result_of_[static_cast<size_t>(graph_.nodes[i].result())] = static_cast<int>(i);
  }

  // Whatever follows from constants alone is computed once, at load.
  void note_constants(const Node& node) {
    bool constant = true;
    for (ValueId arg : node.args) {
      for_each_value(graph_, arg, [&](ValueId id) {
        if (std::holds_alternative<SymInt>(graph_.value(id))) constant = false;
        if (graph_.tensor(id) != nullptr) constant = constant && is_constant(id);
      });
    }
    for (ValueId id : node.outputs) {
      const auto i = static_cast<size_t>(id);
      constant_[i] = constant && !uses_.is_input[i] && uses_.writers[i] == 1;
    }
  }

  bool is_constant(ValueId id) const { return constant_[static_cast<size_t>(id)]; }

  bool has_one_reader(ValueId id) const {
    return uses_.readers[static_cast<size_t>(id)] == 1 &&
           uses_.writers[static_cast<size_t>(id)] == 1 && !uses_.is_input[static_cast<size_t>(id)];
  }

  std::optional<Candidate> candidate_for(ValueId operand, int64_t numel) const {
    Candidate out{};
    ValueId value = operand;
    while (true) {
      if (!has_one_reader(value) || tensor(value).max_dims.numel() != numel) return std::nullopt;
      const int index = result_of_[static_cast<size_t>(value)];
      if (index < 0) return std::nullopt;
      const Node& node = graph_.nodes[static_cast<size_t>(index)];
      const OpTraits traits = traits_(node.op);
      if (traits.kind == OpKind::kView && node.followers.empty()) {
        out.views.insert(out.views.begin(), static_cast<size_t>(index));
        value = node.args[0];
        if (graph_.tensor(value) == nullptr) return std::nullopt;
        continue;
      }
      if (!traits.takes_followers) return std::nullopt;
      out.producer = static_cast<size_t>(index);
      return out;
    }
  }

  // Whether nodes overwrite the value after something else gave it one.
  bool is_state(ValueId id) const {
    const auto i = static_cast<size_t>(id);
    const bool has_initial =
        uses_.is_input[i] || (graph_.tensor(id) != nullptr && tensor(id).constant >= 0);
    return uses_.writers[i] + (has_initial ? 1 : 0) > 1;
  }

  // The fused node stands where its last part stood. Sinking a node below others is wrong if they
  // overwrite what it reads, or read its other outputs.
  bool can_sink(size_t from, size_t to) const {
    const Node& node = graph_.nodes[from];
    bool ok = true;
    const auto scan = [&](const Node& part) {
      for (ValueId arg : part.args) {
        for_each_value(graph_, arg, [&](ValueId id) { ok = ok && !is_state(id); });
      }
    };
    scan(node);
    for (const Node& follower : node.followers) scan(follower);
    for (size_t k = 1; ok && k < node.outputs.size(); ++k) {
      ok = !is_state(node.outputs[k]) && !reads_between(from, to, node.outputs[k]);
    }
    return ok;
  }

  // Whether a node after `from` and up to `to` reads the value.
  bool reads_between(size_t from, size_t to, ValueId value) const {
    bool found = false;
    const auto scan = [&](const Node& part) {
      for (ValueId arg : part.args) {
        for_each_value(graph_, arg, [&](ValueId id) { found = found || id == value; });
      }
    };
    for (size_t i = from + 1; i <= to; ++i) {
      if (gone_[i]) continue;
      scan(graph_.nodes[i]);
      for (const Node& follower : graph_.nodes[i].followers) scan(follower);
    }
    return found;
  }

  // At most this many: what the producer's own kernel reads, it may not share with its followers.
  size_t bindings_after(const Candidate& candidate, const Node& node) const {
    std::set<ValueId> own, extra;
    const auto scan = [&](const Node& part, std::set<ValueId>& bound) {
      for (ValueId arg : part.args) {
        for_each_value(graph_, arg, [&](ValueId id) {
          if (graph_.tensor(id) != nullptr) bound.insert(id);
        });
      }
    };
    const Node& producer = graph_.nodes[candidate.producer];
    scan(producer, own);
    const bool shares = traits_(producer.op).kind == OpKind::kPointwise;
    std::set<ValueId>& operands = shares ? own : extra;
    for (const Node& follower : producer.followers) scan(follower, operands);
    scan(node, operands);
    // The first output and what the chain passes on stay inside; one buffer is written.
    operands.erase(producer.outputs[0]);
    for (const Node& follower : producer.followers) operands.erase(follower.outputs[0]);
    for (size_t view : candidate.views) operands.erase(graph_.nodes[view].outputs[0]);
    return own.size() + extra.size() + producer.outputs.size();
  }

  // Prefers what computes (a matrix product's epilogue is free) to another pointwise node, and the
  // latest of those.
  std::optional<Candidate> best_producer(size_t index) const {
    const Node& node = graph_.nodes[index];
    const int64_t numel = tensor(node.outputs[0]).max_dims.numel();
    std::optional<Candidate> best;
    const auto rank = [&](const Candidate& c) {
      const bool computes = traits_(graph_.nodes[c.producer].op).kind == OpKind::kCompute;
      return std::pair(computes, c.producer);
    };
    for (ValueId arg : node.args) {
      if (graph_.tensor(arg) == nullptr) continue;
      const auto candidate = candidate_for(arg, numel);
      if (!candidate || !can_sink(candidate->producer, index)) continue;
      if (is_constant(arg) && !is_constant(node.outputs[0])) continue;  // arg will be folded
      if (bindings_after(*candidate, node) > options_.max_bindings) continue;
      if (!best || rank(*candidate) > rank(*best)) best = candidate;
    }
    return best;
  }

  void absorb(const Candidate& candidate, size_t index) {
    Node fused = std::move(graph_.nodes[candidate.producer]);
    gone_[candidate.producer] = true;
    for (size_t view : candidate.views) {
      fused.followers.push_back(std::move(graph_.nodes[view]));
      gone_[view] = true;
    }
    fused.followers.push_back(std::move(graph_.nodes[index]));
    graph_.nodes[index] = std::move(fused);
  }

  Graph& graph_;
  const TraitsOf& traits_;
  const PassOptions& options_;
  Uses uses_;
  std::vector<bool> gone_;
  std::vector<int> result_of_;  // by value: the node whose result() it is
  std::vector<bool> constant_;  // by value
};

}  // namespace

void fuse_followers(Graph& graph, const TraitsOf& traits, const PassOptions& options) {
  FollowerFusion(graph, traits, options).run();
}

void run_passes(Graph& graph, const TraitsOf& traits, const PassOptions& options) {
  remove_dead_nodes(graph);
  if (options.fuse) fuse_followers(graph, traits, options);
}

}  // namespace executorch::backends::webgpu
