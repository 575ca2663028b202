// Arguments against signatures: which kinds of values match, and what the messages say.
#include "ops/signature.h"

#include <gtest/gtest.h>

#include "graph_builder.h"
#include "ops/op.h"

namespace executorch::backends::webgpu::test {
namespace {

// "" when the arguments (and one output) match, else the message without the node's name.
std::string match(const char* signature, const std::vector<Arg>& args, int outputs = 1) {
  GraphBuilder b;
  b.tensor(DType::kFloat32, {2});  // value 0
  b.graph.add(SymInt{5});          // value 1
  std::vector<V> outs;
  for (int i = 0; i < outputs; ++i) outs.push_back(b.tensor(DType::kFloat32, {2}));
  b.call("op", args, outs);
  const Status status = match_signature(NodeView(b.graph, b.graph.nodes[0]), signature);
  if (status) return "";
  const std::string prefix = "op (node 0): ";
  EXPECT_EQ(status.error().message.substr(0, prefix.size()), prefix);
  return status.error().message.substr(prefix.size());
}

const V kTensor = {0}, kSymbol = {1};

TEST(Signature, Letters) {
  EXPECT_EQ(match("t n i l b s * -> t", {kTensor, 2.5, kSymbol, Ints{1}, true, "x", std::nullopt}),
            "");
  EXPECT_EQ(match("t n? t? -> t", {kTensor, std::nullopt, std::nullopt}), "");
  EXPECT_EQ(match("T -> t", {std::vector<V>{kTensor, kTensor}}), "");
  EXPECT_EQ(match("l -> t", {std::vector<V>{kSymbol}}), "");
  EXPECT_EQ(match("l -> t", {3}), "");
  EXPECT_EQ(match("l -> t", {std::vector<V>{}}), "");
  EXPECT_EQ(match("n -> t", {1}), "");  // an Int may stand where a Double is meant
  EXPECT_EQ(match("b -> t", {0}), "");
}

TEST(Signature, Messages) {
  EXPECT_EQ(match("t -> t", {1}), "argument 0 should be a tensor but is an integer");
  EXPECT_EQ(match("t -> t", {std::nullopt}), "argument 0 should be a tensor but is nothing");
  EXPECT_EQ(match("n -> t", {kSymbol}), "argument 0 should be a number but is a symbolic integer");
  EXPECT_EQ(match("i -> t", {kTensor}), "argument 0 should be an integer but is a tensor");
  EXPECT_EQ(match("T -> t", {std::vector<V>{kTensor, kSymbol}}),
            "argument 0 should be a list of tensors but is a list");
  EXPECT_EQ(match("l -> t", {std::vector<V>{kTensor}}),
            "argument 0 should be a list of integers but is a list");
  EXPECT_EQ(match("s -> t", {Ints{1}}), "argument 0 should be a string but is an integer list");
  EXPECT_EQ(match("t t -> t", {kTensor}), "has 1 arguments, too few");
  EXPECT_EQ(match("t -> t", {kTensor, 1}), "has 2 arguments, expected 1");
  EXPECT_EQ(match("t -> t", {kTensor}, 2), "has 2 outputs, expected 1");
  EXPECT_EQ(match("t -> t t", {kTensor}, 1), "has 1 outputs, too few");
  EXPECT_EQ(match("t -> T", {kTensor}, 3), "");
  EXPECT_EQ(match("t -> i", {kTensor}), "output 0 should be an integer but is a tensor");
}

// Every row of the table parses, and no name is there twice.
TEST(Signature, Table) {
  std::string_view last;
  for (const Op& op : all_ops()) {
    EXPECT_LT(last, op.name);
    last = op.name;
    EXPECT_NE(op.signature.find("->"), std::string_view::npos) << op.name;
    EXPECT_EQ(op.signature.find_first_not_of("tTnildbs*?-> "), std::string_view::npos) << op.name;
    EXPECT_NE(op.infer, nullptr) << op.name;
    EXPECT_TRUE(op.lower != nullptr || op.kind == OpKind::kSymbolic) << op.name;
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
