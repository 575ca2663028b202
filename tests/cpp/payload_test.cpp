#include "payload/payload.h"

#include <gtest/gtest.h>

#include "../fuzz/invariants.h"
#include "payload_blob.h"

namespace executorch::backends::webgpu {
namespace {

using vkgraph::VkDataType;

const std::string kKey(64, 'a');

// z = x + 1 * w, then (p, q) = split(z): every part that the altered cases below break.
BlobSpec base() {
  BlobSpec spec;
  spec.constants = {{UINT64_MAX, 24, kKey}, {4, 12, ""}};
  spec.raw.resize(16, std::byte{7});
  spec.values = {
      BlobSpec::tensor({2, 3}),       // 0: x
      BlobSpec::constant({2, 3}, 0),  // 1: w
      BlobSpec::integer(1),           // 2
      BlobSpec::tensor({2, 3}),       // 3: z
      BlobSpec::ints({1, 1}),         // 4
      BlobSpec::tensor({1, 3}),       // 5: p
      BlobSpec::tensor({1, 3}),       // 6: q
      BlobSpec::list({5, 6}),         // 7
      BlobSpec::constant({3}, 1),     // 8: unused, in the raw region
      BlobSpec::symint(),             // 9
  };
  spec.chain = {{"aten.add.Tensor", {0, 1, 2, 3}, 0},
                {"sym_size.int", {3, 2, 9}, 1},
                {"aten.split_with_sizes_copy.default", {3, 4, 2, 7}, 2}};
  spec.inputs = {0};
  spec.outputs = {5, 6, 9};
  return spec;
}

Result<Payload> parse(const BlobSpec& spec) {
  static std::vector<std::byte> blob;  // outlives the payload
  blob = spec.build();
  return parse_payload(blob);
}

TEST(Payload, ReadsWhatWasWritten) {
  const auto payload = parse(base());
  ASSERT_TRUE(payload) << payload.error().message;
  const Graph& graph = payload->graph;
  ASSERT_EQ(graph.values.size(), 10u);
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.inputs, (std::vector<ValueId>{0}));
  EXPECT_EQ(graph.outputs, (std::vector<ValueId>{5, 6, 9}));

  ASSERT_NE(graph.tensor(1), nullptr);
  EXPECT_EQ(graph.tensor(1)->max_dims, (Shape{2, 3}));
  EXPECT_EQ(graph.tensor(1)->dtype, DType::kFloat32);
  EXPECT_EQ(graph.tensor(1)->staging, DType::kFloat32);
  EXPECT_EQ(graph.tensor(1)->constant, 0);
  EXPECT_EQ(graph.tensor(0)->constant, -1);
  EXPECT_EQ(graph.constants[0].key, kKey);
  EXPECT_EQ(graph.constants[0].nbytes, 24u);
  EXPECT_EQ(graph.constants[1].key, "");
  EXPECT_EQ(graph.constants[1].offset, 4u);
  EXPECT_EQ(payload->raw.size(), 16u);
  EXPECT_EQ(payload->raw[0], std::byte{7});

  EXPECT_EQ(graph.nodes[0].op, "aten.add.Tensor");
  EXPECT_EQ(graph.nodes[0].args, (std::vector<ValueId>{0, 1, 2}));
  EXPECT_EQ(graph.nodes[0].outputs, (std::vector<ValueId>{3}));
  EXPECT_EQ(graph.nodes[1].outputs, (std::vector<ValueId>{9}));
  EXPECT_EQ(graph.nodes[2].outputs, (std::vector<ValueId>{5, 6}))
      << "a list of outputs is flattened";
  EXPECT_EQ(graph.nodes[2].debug_id, 2u);
  require_invariants(*payload);
}

TEST(Payload, ReadsEveryKindOfValue) {
  BlobSpec spec;
  const double inf = std::numeric_limits<double>::infinity();
  spec.values = {BlobSpec::null(),           BlobSpec::integer(INT64_MIN), BlobSpec::real(-inf),
                 BlobSpec::boolean(true),    BlobSpec::ints({-1, 5}),      BlobSpec::reals({0.5}),
                 BlobSpec::booleans({1, 0}), BlobSpec::string("tanh"),     BlobSpec::symint(),
                 BlobSpec::ints({}),         BlobSpec::list({0, 1, 2}),    BlobSpec::tensor({})};
  const auto payload = parse(spec);
  ASSERT_TRUE(payload) << payload.error().message;
  const auto& values = payload->graph.values;
  EXPECT_TRUE(std::holds_alternative<Null>(values[0]));
  EXPECT_EQ(std::get<int64_t>(values[1]), INT64_MIN);
  EXPECT_EQ(std::get<double>(values[2]), -inf);
  EXPECT_EQ(std::get<bool>(values[3]), true);
  EXPECT_EQ(std::get<std::vector<int64_t>>(values[4]), (std::vector<int64_t>{-1, 5}));
  EXPECT_EQ(std::get<std::vector<double>>(values[5]), (std::vector<double>{0.5}));
  EXPECT_EQ(std::get<std::vector<bool>>(values[6]), (std::vector<bool>{true, false}));
  EXPECT_EQ(std::get<std::string>(values[7]), "tanh");
  EXPECT_TRUE(std::holds_alternative<SymInt>(values[8]));
  EXPECT_TRUE(std::get<std::vector<int64_t>>(values[9]).empty());
  EXPECT_EQ(std::get<ValueList>(values[10]).items, (std::vector<ValueId>{0, 1, 2}));
  EXPECT_EQ(std::get<Tensor>(values[11]).max_dims.rank(), 0);
}

TEST(Payload, KeepsTheStagingDtype) {
  BlobSpec spec;
  BlobSpec::TensorSpec half;
  half.dtype = VkDataType::FLOAT16;
  half.staging = VkDataType::FLOAT32;
  spec.values = {BlobSpec::tensor({4}, half)};
  const auto payload = parse(spec);
  ASSERT_TRUE(payload) << payload.error().message;
  EXPECT_EQ(payload->graph.tensor(0)->dtype, DType::kFloat16);
  EXPECT_EQ(payload->graph.tensor(0)->staging, DType::kFloat32);
}

TEST(Payload, AnAbsentConstantIdIsConstantZero) {
  BlobSpec spec;
  spec.constants = {{UINT64_MAX, 4, kKey}};
  // The builder leaves a field with its default value, 0, out: so does the exporter.
  spec.values = {BlobSpec::constant({1}, 0)};
  const auto payload = parse(spec);
  ASSERT_TRUE(payload) << payload.error().message;
  EXPECT_EQ(payload->graph.tensor(0)->constant, 0);
}

TEST(Payload, AnEmptyConstantNeedsNoBytes) {
  BlobSpec spec;
  spec.constants = {{UINT64_MAX, 0, ""}};
  spec.values = {BlobSpec::constant({3, 0}, 0)};
  const auto payload = parse(spec);
  ASSERT_TRUE(payload) << payload.error().message;
  EXPECT_EQ(payload->graph.constants[0].nbytes, 0u);
}

TEST(Payload, ARawRegionOfUnstatedSizeIsTheRest) {
  BlobSpec spec = base();
  spec.raw_size_in_header = false;
  const auto payload = parse(spec);
  ASSERT_TRUE(payload) << payload.error().message;
  EXPECT_EQ(payload->raw.size(), 16u);
}

TEST(Payload, WritingInPlaceAndRepeatedOutputsAreAllowed) {
  BlobSpec spec = base();
  spec.chain.push_back({"aten.relu_.default", {3, 3}, 3});
  spec.outputs = {3, 3, 1};
  EXPECT_TRUE(parse(spec)) << parse(spec).error().message;
}

TEST(Payload, BytesMayStandAtAnyAddress) {
  const std::vector<std::byte> blob = base().build();
  for (size_t shift = 1; shift < 8; ++shift) {
    std::vector<std::byte> moved(shift);
    moved.insert(moved.end(), blob.begin(), blob.end());
    const auto payload = parse_payload(Bytes(moved).subspan(shift));
    ASSERT_TRUE(payload) << payload.error().message;
    EXPECT_EQ(payload->graph.nodes.size(), 3u);
  }
}

// FlatBuffers' verifier lets 64-bit items stand at any multiple of 4: under UBSan this is a fault
// if they are read in place. One of the two lengths puts them off their alignment.
TEST(Payload, ReadsMisalignedLists) {
  for (const uint32_t words : {4u, 5u}) {
    BlobSpec spec;
    spec.values = {{vkgraph::GraphTypes::IntList, [words](BlobSpec::Builder& b) {
                      b.StartVector(words, sizeof(uint32_t));
                      // Backwards: the high word of each item, then the low one.
                      for (uint32_t i = words; i-- > 0;) b.PushElement(i % 2 == 0 ? i + 1 : 0u);
                      const flatbuffers::Offset<flatbuffers::Vector<int64_t>> items(b.EndVector(2));
                      return vkgraph::CreateIntList(b, items).Union();
                    }}};
    const auto payload = parse(spec);
    ASSERT_TRUE(payload) << payload.error().message;
    EXPECT_EQ(std::get<std::vector<int64_t>>(payload->graph.values[0]),
              (std::vector<int64_t>{1, 3}));
  }
}

struct Altered {
  const char* what;
  std::function<void(BlobSpec&)> alter;
  ErrorCode code;
  const char* message;
};

BlobSpec::Value with(std::function<void(BlobSpec::TensorSpec&)> change) {
  BlobSpec::TensorSpec spec;
  change(spec);
  return BlobSpec::tensor({2, 3}, spec);
}

constexpr ErrorCode kInvalid = ErrorCode::kInvalidProgram;
constexpr ErrorCode kUnsupported = ErrorCode::kNotSupported;

const Altered kAltered[] = {
    // Values.
    {"unknown kind", [](BlobSpec& s) { s.values[2].type = vkgraph::GraphTypes(12); }, kInvalid,
     "value 2: is of the unknown kind 12"},
    {"no content",
     [](BlobSpec& s) {
       s.values[2] = {vkgraph::GraphTypes::NONE, [](auto&) { return flatbuffers::Offset<void>(); }};
     },
     kInvalid, "value 2: has no content"},
    {"kind without a table",
     [](BlobSpec& s) {
       s.values[2] = {vkgraph::GraphTypes::Int, [](auto&) { return flatbuffers::Offset<void>(); }};
     },
     kInvalid, "value 2: has no content"},
    {"unknown dtype",
     [](BlobSpec& s) { s.values[3] = with([](auto& t) { t.dtype = VkDataType(9); }); }, kInvalid,
     "value 3: tensor with the unknown dtype 9"},
    {"unset dtype",
     [](BlobSpec& s) { s.values[3] = with([](auto& t) { t.dtype = VkDataType::UNSET; }); },
     kInvalid, "value 3: tensor with the unknown dtype 127"},
    {"unknown staging dtype",
     [](BlobSpec& s) { s.values[3] = with([](auto& t) { t.staging = VkDataType(-1); }); }, kInvalid,
     "value 3: tensor with the unknown dtype -1"},
    {"64-bit tensor",
     [](BlobSpec& s) { s.values[3] = with([](auto& t) { t.dtype = VkDataType::INT64; }); },
     kUnsupported, "value 3: tensor of int64 on the GPU"},
    {"unknown storage",
     [](BlobSpec& s) {
       s.values[3] = with([](auto& t) { t.storage = vkgraph::VkStorageType(3); });
     },
     kInvalid, "value 3: tensor with the unknown storage type 3"},
    {"unknown layout",
     [](BlobSpec& s) {
       s.values[3] = with([](auto& t) { t.layout = vkgraph::VkMemoryLayout(7); });
     },
     kInvalid, "value 3: tensor with the unknown memory layout 7"},
    {"rank 9", [](BlobSpec& s) { s.values[3] = BlobSpec::tensor({1, 1, 1, 1, 1, 1, 1, 1, 1}); },
     kUnsupported, "value 3: tensor of rank 9; at most 8 is supported"},
    {"2^32 elements", [](BlobSpec& s) { s.values[3] = BlobSpec::tensor({65536, 65536}); },
     kUnsupported, "value 3: tensor [65536, 65536] has 2^32 elements or more"},
    {"overflowing sizes",
     [](BlobSpec& s) { s.values[3] = BlobSpec::tensor(std::vector<uint32_t>(8, UINT32_MAX)); },
     kUnsupported, "has 2^32 elements or more"},
    {"overflow behind a zero",
     [](BlobSpec& s) { s.values[3] = BlobSpec::tensor({UINT32_MAX, UINT32_MAX, UINT32_MAX, 0}); },
     kUnsupported, "has 2^32 elements or more"},
    {"list item out of range", [](BlobSpec& s) { s.values[7] = BlobSpec::list({5, 10}); }, kInvalid,
     "value 7: list item 10 is not one of the 10 values"},
    {"negative list item", [](BlobSpec& s) { s.values[7] = BlobSpec::list({-1}); }, kInvalid,
     "value 7: list item -1 is not one of the 10 values"},
    {"list in a list",
     [](BlobSpec& s) {
       s.values[9] = BlobSpec::list({7});
       s.chain.clear();
     },
     kInvalid, "value 9: its item, value 7, is itself a list"},
    {"list of itself",
     [](BlobSpec& s) {
       s.values[9] = BlobSpec::list({9});
       s.chain.clear();
     },
     kInvalid, "value 9: its item, value 9, is itself a list"},
    // Constants.
    {"constant out of range", [](BlobSpec& s) { s.values[1] = BlobSpec::constant({2, 3}, 2); },
     kInvalid, "value 1: tensor of constant 2, but there are 2"},
    {"constant too short", [](BlobSpec& s) { s.constants[0].length = 20; }, kInvalid,
     "value 1: tensor float32[2, 3] takes 24 bytes, but constant 0 has 20"},
    {"constant too long", [](BlobSpec& s) { s.constants[0].length = 28; }, kInvalid,
     "value 1: tensor float32[2, 3] takes 24 bytes, but constant 0 has 28"},
    {"constant without a key", [](BlobSpec& s) { s.constants[0].key.clear(); }, kInvalid,
     "constant 0: neither an offset nor a key"},
    {"constant with an endless key", [](BlobSpec& s) { s.constants[0].key.assign(300, 'k'); },
     kInvalid, "constant 0: key of 300 characters"},
    {"constant past the raw region", [](BlobSpec& s) { s.constants[1].offset = 5; }, kInvalid,
     "constant 1: 12 bytes at 5 of a raw region of 16 bytes"},
    {"constant whose end overflows", [](BlobSpec& s) { s.constants[1].offset = UINT64_MAX - 4; },
     kInvalid, "constant 1: 12 bytes at"},
    {"custom shader", [](BlobSpec& s) { s.shaders = 1; }, kUnsupported, "1 custom shaders"},
    // Nodes.
    {"no name", [](BlobSpec& s) { s.chain[0].name.clear(); }, kInvalid,
     "node 0: has no operator name"},
    {"endless name", [](BlobSpec& s) { s.chain[0].name.assign(257, 'x'); }, kInvalid,
     "node 0: has an operator name of 257 characters"},
    {"no arguments", [](BlobSpec& s) { s.chain[0].args.clear(); }, kInvalid,
     "node 0: (aten.add.Tensor) has 0 arguments, not 1 to 64"},
    {"65 arguments", [](BlobSpec& s) { s.chain[0].args.assign(65, 0); }, kInvalid,
     "node 0: (aten.add.Tensor) has 65 arguments, not 1 to 64"},
    {"argument out of range", [](BlobSpec& s) { s.chain[0].args[1] = 10; }, kInvalid,
     "node 0: (aten.add.Tensor) names value 10 of 10"},
    {"negative argument", [](BlobSpec& s) { s.chain[0].args[3] = -1; }, kInvalid,
     "node 0: (aten.add.Tensor) names value -1 of 10"},
    {"writes a constant", [](BlobSpec& s) { s.chain[0].args[3] = 1; }, kInvalid,
     "node 0: (aten.add.Tensor) writes value 1, which is constant 0"},
    {"writes a list of numbers", [](BlobSpec& s) { s.chain[0].args[3] = 4; }, kInvalid,
     "node 0: (aten.add.Tensor) writes value 4, which is neither a tensor nor an integer"},
    {"writes a constant in a list", [](BlobSpec& s) { s.values[7] = BlobSpec::list({5, 1}); },
     kInvalid, "node 2: (aten.split_with_sizes_copy.default) writes value 1, which is constant 0"},
    {"writes nothing", [](BlobSpec& s) { s.values[7] = BlobSpec::list({}); }, kInvalid,
     "node 2: (aten.split_with_sizes_copy.default) has an empty list of outputs"},
    {"reads too early", [](BlobSpec& s) { std::swap(s.chain[0], s.chain[2]); }, kInvalid,
     "node 0 (aten.split_with_sizes_copy.default) reads value 3 before anything wrote it"},
    {"reads an unwritten list item",
     [](BlobSpec& s) { s.chain[0] = {"aten.cat.default", {7, 2, 3}, 0}; }, kInvalid,
     "node 0 (aten.cat.default) reads value 5 before anything wrote it"},
    {"reads an unwritten SymInt", [](BlobSpec& s) { s.chain[0].args[2] = 9; }, kInvalid,
     "node 0 (aten.add.Tensor) reads value 9 before anything wrote it"},
    // Inputs and outputs.
    {"input out of range", [](BlobSpec& s) { s.inputs = {10}; }, kInvalid,
     "input 0 names value 10 of 10"},
    {"input beyond any id", [](BlobSpec& s) { s.inputs = {UINT32_MAX}; }, kInvalid,
     "input 0 names value -1 of 10"},
    {"input is a number", [](BlobSpec& s) { s.inputs = {0, 2}; }, kInvalid,
     "input 1, value 2, is neither a tensor nor a SymInt"},
    {"input is a constant", [](BlobSpec& s) { s.inputs = {0, 1}; }, kInvalid,
     "input 1, value 1, is constant 0"},
    {"input repeats", [](BlobSpec& s) { s.inputs = {0, 0}; }, kInvalid, "input 1 repeats value 0"},
    {"output out of range", [](BlobSpec& s) { s.outputs = {11}; }, kInvalid,
     "output 0 names value 11 of 10"},
    {"output is a list", [](BlobSpec& s) { s.outputs = {7}; }, kInvalid,
     "output 0, value 7, is neither a tensor nor a SymInt"},
    {"output never written", [](BlobSpec& s) { s.chain.pop_back(); }, kInvalid,
     "output 0, value 5, is never written"},
};

TEST(Payload, NamesWhatIsWrong) {
  for (const Altered& altered : kAltered) {
    SCOPED_TRACE(altered.what);
    BlobSpec spec = base();
    altered.alter(spec);
    const auto payload = parse(spec);
    ASSERT_FALSE(payload);
    EXPECT_EQ(payload.error().code, altered.code) << payload.error().message;
    EXPECT_NE(payload.error().message.find(altered.message), std::string::npos)
        << "expected: " << altered.message << "\nfound:    " << payload.error().message;
  }
}

struct AlteredHeader {
  size_t at;
  uint64_t number;
  size_t count;
  const char* message;
};

TEST(Payload, NamesWhatIsWrongInTheHeader) {
  const AlteredHeader cases[] = {
      {4, 0, 4, "no VH00 header"},
      {8, 29, 2, "header length is 29, not 30"},
      {10, 16, 4, "bytes at 16 does not fit"},
      {10, UINT32_MAX, 4, "does not fit"},
      {14, 0, 4, "FlatBuffer of 0 bytes"},
      {14, UINT32_MAX, 4, "does not fit"},
      {18, 32, 4, "constants at 32 overlap the FlatBuffer"},
      {18, UINT32_MAX, 4, "lie past the end"},
      {22, 17, 8, "17 bytes of constants"},
      {22, UINT64_MAX, 8, "bytes of constants"},
      {36, 0, 4, "the FlatBuffer identifier VK00 is missing"},
      {32, 0x7fffffff, 4, "the FlatBuffer is damaged"},
      {14, 7, 4, "7 bytes are too few for a FlatBuffer"},
  };
  for (const AlteredHeader& altered : cases) {
    SCOPED_TRACE(altered.message);
    std::vector<std::byte> blob = base().build();
    for (size_t i = 0; i < altered.count; ++i) {
      blob[altered.at + i] = static_cast<std::byte>(altered.number >> (8 * i));
    }
    const auto payload = parse_payload(blob);
    ASSERT_FALSE(payload);
    EXPECT_EQ(payload.error().code, kInvalid);
    EXPECT_NE(payload.error().message.find(altered.message), std::string::npos)
        << payload.error().message;
  }
}

// A small file whose many values all lead to one long list must not unfold in memory.
TEST(Payload, SharedListsAreBounded) {
  BlobSpec spec;
  flatbuffers::Offset<void> shared;
  const BlobSpec::Value list{
      vkgraph::GraphTypes::IntList, [&shared](BlobSpec::Builder& b) {
        if (shared.IsNull()) {
          shared = vkgraph::CreateIntList(b, b.CreateVector(std::vector<int64_t>(1000, 1))).Union();
        }
        return shared;
      }};
  spec.values.assign(1000, list);
  const auto payload = parse(spec);
  ASSERT_FALSE(payload);
  EXPECT_NE(payload.error().message.find("longer than the file"), std::string::npos)
      << payload.error().message;
}

TEST(Payload, EveryTruncationIsRefused) {
  const std::vector<std::byte> blob = base().build();
  for (size_t size = 0; size < blob.size(); ++size) {
    const std::vector<std::byte> cut(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(parse_payload(cut)) << "of " << size << " bytes";
  }
}

TEST(Payload, EveryAlteredByteIsRefusedOrHarmless) {
  std::vector<std::byte> blob = base().build();
  for (size_t at = 0; at < blob.size(); ++at) {
    const std::byte kept = blob[at];
    for (int change : {0x01, 0x04, 0x80, 0xff}) {
      blob[at] = kept ^ static_cast<std::byte>(change);
      if (const auto payload = parse_payload(blob)) require_invariants(*payload);
    }
    blob[at] = kept;
  }
}

TEST(Listing, ShowsValuesNodesAndFollowers) {
  auto payload = parse(base());
  ASSERT_TRUE(payload);
  Graph& graph = payload->graph;
  Node relu{"aten.relu.default", {3}, {5}, 7, {}};
  graph.nodes[0].followers.push_back(relu);
  const std::string text = to_string(graph);
  for (const char* line :
       {"graph: 10 values, 3 nodes, 2 constants\n", "inputs: %0\n", "outputs: %5, %6, %9\n",
        "  %0    float32[2, 3], input\n",
        "  %1    float32[2, 3], constant 0 (aaaaaaaa, 24 bytes)\n",
        "  %8    float32[3], constant 1 (at 4, 12 bytes)\n", "  %4    ints [1, 1]\n",
        "  %7    list [%5, %6]\n", "  %9    symint, output\n",
        "  0    %3 = aten.add.Tensor(%0, %1, 1)  #0\n       + %5 = aten.relu.default(%3)  #7\n",
        "  2    %5, %6 = aten.split_with_sizes_copy.default(%3, [1, 1], 1)  #2\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "is missing in\n" << text;
  }
}

TEST(Listing, SurvivesIdsThatAreWrong) {
  Graph graph;
  graph.add(ValueList{{0, 9}});
  graph.outputs = {-1, 3};
  graph.nodes.push_back(Node{"op", {0, 7}, {2}, 0, {}});
  const std::string text = to_string(graph);
  EXPECT_NE(text.find("%2? = op([%0, %9?], %7?)"), std::string::npos) << text;
  EXPECT_NE(text.find("outputs: -, %3?"), std::string::npos) << text;
}

}  // namespace
}  // namespace executorch::backends::webgpu
