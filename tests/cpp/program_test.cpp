#include "program/program.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <functional>

#include "../fuzz/program_invariants.h"
#include "program/file_map.h"
#include "program_file.h"

namespace executorch::backends::webgpu {
namespace {

TEST(Program, ReadsWhatWasWritten) {
  const ByteVector file = FileSpec().build();
  const auto program = Program::parse(file);
  ASSERT_TRUE(program) << program.error().message;
  require_invariants(*program, file);
  ASSERT_EQ(program->methods().size(), 1u);
  EXPECT_EQ(program->method("backward"), nullptr);
  const Method* method = program->method("forward");
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->inputs, (std::vector<HostId>{0}));
  EXPECT_EQ(method->outputs, (std::vector<HostId>{1}));
  ASSERT_EQ(method->values.size(), 10u);

  const HostTensor* x = method->tensor(0);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->dtype, DType::kFloat32);
  EXPECT_EQ(x->sizes, (Shape{2, 3}));
  EXPECT_EQ(x->dynamism, Dynamism::kBounded);
  EXPECT_TRUE(x->contiguous());
  EXPECT_TRUE(x->data.empty());
  EXPECT_EQ(std::get<int64_t>(method->value(2)), 5);
  EXPECT_EQ(std::get<HostIntList>(method->value(3)).items, (std::vector<HostId>{2, 2}));
  const HostTensor* constant = method->tensor(4);
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->dynamism, Dynamism::kStatic);
  ASSERT_EQ(constant->data.size(), 16u);
  EXPECT_EQ(constant->data[0], std::byte{16}) << "at offset 16 of segment 0";
  EXPECT_EQ(std::get<HostTensorList>(method->value(5)).items, (std::vector<HostId>{0, -1}));
  EXPECT_EQ(std::get<double>(method->value(6)), 0.5);
  EXPECT_EQ(std::get<bool>(method->value(7)), true);
  EXPECT_EQ(std::get<std::string>(method->value(8)), "none");
  EXPECT_TRUE(std::holds_alternative<HostNull>(method->value(9)));

  ASSERT_EQ(method->instructions.size(), 1u);
  const auto& call = std::get<DelegateCall>(method->instructions[0]);
  EXPECT_EQ(call.args, (std::vector<HostId>{0, 1}));
  ASSERT_EQ(method->delegates.size(), 1u);
  const Delegate& delegate = method->delegates[call.delegate];
  EXPECT_EQ(delegate.id, "VulkanBackend");
  ASSERT_EQ(delegate.blob.size(), 16u);
  EXPECT_EQ(delegate.blob[0], std::byte{32});
  ASSERT_EQ(delegate.compile_specs.size(), 1u);
  EXPECT_EQ(delegate.compile_specs[0].key, "skip_tag_memory_metadata");
  EXPECT_EQ(delegate.compile_specs[0].value.size(), 2u);
  EXPECT_TRUE(method->fully_delegated());

  ASSERT_TRUE(program->named("weight"));
  EXPECT_EQ(program->named("weight")->size(), 8u);
  EXPECT_EQ((*program->named("weight"))[0], std::byte{48});
  EXPECT_FALSE(program->named("bias"));
}

TEST(Program, ListsWhatIsLeftToTheCpu) {
  FileSpec spec;
  spec.cpu_operator = true;
  spec.move_to = 1;
  const ByteVector file = spec.build();
  const auto program = Program::parse(file);
  ASSERT_TRUE(program) << program.error().message;
  const Method& method = program->methods()[0];
  EXPECT_FALSE(method.fully_delegated());
  EXPECT_EQ(method.cpu_work(), (std::vector<std::string>{"aten::add.out", "move"}));
  EXPECT_EQ(std::get<KernelCall>(method.instructions[0]).args, (std::vector<HostId>{0, 2, 1}));
  EXPECT_EQ(std::get<MoveCall>(method.instructions[2]).to, 1);
}

TEST(Program, ReadsInlineBlobsAtAnyAddress) {
  FileSpec spec;
  spec.location = fb::DataLocation::INLINE;
  spec.blob_index = 0;
  const ByteVector file = spec.build();
  for (size_t shift = 0; shift < 8; ++shift) {
    ByteVector moved(shift);
    moved.insert(moved.end(), file.begin(), file.end());
    const Bytes bytes = Bytes(moved).subspan(shift);
    const auto program = Program::parse(bytes);
    ASSERT_TRUE(program) << program.error().message;
    require_invariants(*program, bytes);  // that the blob's bytes lie in the file, not in a copy
    const Bytes blob = program->methods()[0].delegates[0].blob;
    ASSERT_EQ(blob.size(), 3u);
    EXPECT_EQ(blob[0], std::byte{9});
  }
}

TEST(Program, ReadsTheShortHeaderAndNoHeader) {
  FileSpec spec;
  spec.header_length = 24;
  ByteVector file = spec.build();
  put(file, 32, 0, 8);  // a field that the short header does not have
  EXPECT_TRUE(Program::parse(file)) << Program::parse(file).error().message;

  spec = FileSpec();
  spec.segments.clear();
  spec.named.clear();
  spec.segment_bytes = 0;
  spec.constant_index = 0;
  spec.location = fb::DataLocation::INLINE;
  spec.blob_index = 0;
  file = spec.build();
  put(file, 8, 0, 4);
  EXPECT_TRUE(Program::parse(file)) << Program::parse(file).error().message;
}

TEST(Program, KeepsExternalTensorsByName) {
  FileSpec spec;
  spec.external_name = "model.weight";
  const ByteVector file = spec.build();
  const auto program = Program::parse(file);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->methods()[0].tensor(4)->external_key, "model.weight");
}

struct Altered {
  const char* what;
  std::function<void(FileSpec&)> alter;
  ErrorCode code;
  const char* message;
};

constexpr ErrorCode kInvalid = ErrorCode::kInvalidProgram;
constexpr ErrorCode kUnsupported = ErrorCode::kNotSupported;

const Altered kAltered[] = {
    {"identifier", [](FileSpec& s) { s.identifier = "ET99"; }, kInvalid, "no ET12 identifier"},
    {"data file", [](FileSpec& s) { s.identifier = "FT01"; }, kInvalid, "this is a data file"},
    {"header length", [](FileSpec& s) { s.header_length = 23; }, kInvalid, "header length is 23"},
    {"no methods", [](FileSpec& s) { s.methods = 0; }, kInvalid, "it has no methods"},
    {"two of a name", [](FileSpec& s) { s.methods = 2; }, kInvalid,
     "two methods are named forward"},
    {"no name", [](FileSpec& s) { s.name.clear(); }, kInvalid, "method 0 (): method: has no name"},
    {"segment past the end", [](FileSpec& s) { s.segments[2] = {48, 9}; }, kInvalid,
     "segment 2: 9 bytes at 48 do not fit the 56 bytes"},
    {"segment that overflows", [](FileSpec& s) { s.segments[2] = {UINT64_MAX, 9}; }, kInvalid,
     "segment 2: 9 bytes at"},
    {"named segment", [](FileSpec& s) { s.named[0].second = 3; }, kInvalid,
     "named data weight: segment 3 of 3"},
    {"name given twice", [](FileSpec& s) { s.named.push_back({"weight", 1}); }, kInvalid,
     "named data weight: given twice, with different bytes"},
    {"unknown kind", [](FileSpec& s) { s.kind_of_2 = fb::KernelTypes(12); }, kInvalid,
     "method 0 (forward): value 2: is of the unknown kind 12"},
    {"no kind", [](FileSpec& s) { s.kind_of_2 = fb::KernelTypes::NONE; }, kInvalid, ""},
    {"unknown scalar type", [](FileSpec& s) { s.scalar_type = fb::ScalarType(8); }, kInvalid,
     "value 0: tensor with the unknown scalar type 8"},
    {"unknown dynamism", [](FileSpec& s) { s.dynamism = fb::TensorShapeDynamism(3); }, kInvalid,
     "value 0: tensor with the unknown dynamism 3"},
    {"storage offset", [](FileSpec& s) { s.storage_offset = 1; }, kUnsupported,
     "value 0: tensor with the storage offset 1"},
    {"negative size", [](FileSpec& s) { s.sizes = {2, -3}; }, kInvalid,
     "value 0: tensor with the negative size -3"},
    {"rank 9", [](FileSpec& s) { s.sizes.assign(9, 1); }, kUnsupported,
     "value 0: tensor of rank 9"},
    {"overflow", [](FileSpec& s) { s.sizes = {INT32_MAX, INT32_MAX, 0}; }, kUnsupported,
     "is too large"},
    {"dim order too short", [](FileSpec& s) { s.dim_order = {0}; }, kInvalid,
     "value 0: tensor of rank 2 with a dim order of 1"},
    {"dim order repeats", [](FileSpec& s) { s.dim_order = {1, 1}; }, kInvalid,
     "value 0: tensor whose dim order is not a permutation"},
    {"dim order out of range", [](FileSpec& s) { s.dim_order = {0, 200}; }, kInvalid,
     "value 0: tensor whose dim order is not a permutation"},
    {"constant is not there", [](FileSpec& s) { s.constant_index = 2; }, kInvalid,
     "value 4: tensor of constant data 2, which is not there"},
    {"constant past its segment", [](FileSpec& s) { s.constant_offsets[1] = 33; }, kInvalid,
     "value 4: tensor data at 33 of a segment of 32 bytes"},
    {"constant too long", [](FileSpec& s) { s.constant_sizes = {5}; }, kInvalid,
     "value 4: tensor float32[5] takes 20 bytes, but 16 are stored"},
    {"int list item", [](FileSpec& s) { s.int_list = {2, 10}; }, kInvalid,
     "value 3: list item 10 is not one of the 10 values"},
    {"wide int list item", [](FileSpec& s) { s.int_list = {(int64_t{1} << 32) + 2}; }, kInvalid,
     "value 3: list item 4294967298 is not"},
    {"int list of a tensor", [](FileSpec& s) { s.int_list = {0}; }, kInvalid,
     "value 3: its item, value 0, is not an integer"},
    {"tensor list of an int", [](FileSpec& s) { s.optional_tensors = {2}; }, kInvalid,
     "value 5: its item, value 2, is not a tensor"},
    {"tensor list item", [](FileSpec& s) { s.optional_tensors = {-2}; }, kInvalid,
     "value 5: list item -2 is not"},
    {"input", [](FileSpec& s) { s.inputs = {10}; }, kInvalid,
     "the list of inputs: names value 10 of 10"},
    {"output", [](FileSpec& s) { s.outputs = {-1}; }, kInvalid,
     "the list of outputs: names value -1 of 10"},
    {"delegate's argument", [](FileSpec& s) { s.delegate_args = {0, 10}; }, kInvalid,
     "instruction 0: names value 10 of 10"},
    {"delegate", [](FileSpec& s) { s.delegate_index = 1; }, kInvalid,
     "instruction 0: calls delegate 1 of 1"},
    {"delegate's id", [](FileSpec& s) { s.delegate_id.clear(); }, kInvalid,
     "delegate 0: has no name"},
    {"delegate's segment", [](FileSpec& s) { s.blob_index = 3; }, kInvalid,
     "delegate 0: has its data in segment 3 of 3"},
    {"delegate's inline data", [](FileSpec& s) { s.location = fb::DataLocation::INLINE; }, kInvalid,
     "delegate 0: has its data in entry 1 of 1"},
    {"delegate's location", [](FileSpec& s) { s.location = fb::DataLocation(2); }, kInvalid,
     "delegate 0: has its data in the unknown location 2"},
    {"operator",
     [](FileSpec& s) {
       s.cpu_operator = true;
       s.op_index = 1;
     },
     kInvalid, "instruction 0: calls operator 1 of 1"},
    {"move", [](FileSpec& s) { s.move_to = 10; }, kInvalid, "instruction 1: names value 10 of 10"},
    {"jump", [](FileSpec& s) { s.jump_to = 3; }, kInvalid,
     "instruction 1: jumps to instruction 3 of 2"},
    {"two chains", [](FileSpec& s) { s.chains = 2; }, kUnsupported, "2 chains of instructions"},
    {"no chain", [](FileSpec& s) { s.chains = 0; }, kUnsupported, "0 chains of instructions"},
};

TEST(Program, NamesWhatIsWrong) {
  for (const Altered& altered : kAltered) {
    SCOPED_TRACE(altered.what);
    FileSpec spec;
    altered.alter(spec);
    const ByteVector file = spec.build();
    const auto program = Program::parse(file);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code, altered.code) << program.error().message;
    EXPECT_NE(program.error().message.find(altered.message), std::string::npos)
        << "expected: " << altered.message << "\nfound:    " << program.error().message;
  }
}

TEST(Program, EveryTruncationIsRefused) {
  const ByteVector file = FileSpec().build();
  for (size_t size = 0; size < file.size(); ++size) {
    const ByteVector cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(Program::parse(cut)) << "of " << size << " bytes";
  }
}

TEST(Program, EveryAlteredByteIsRefusedOrHarmless) {
  ByteVector file = FileSpec().build();
  for (size_t at = 0; at < file.size(); ++at) {
    const std::byte kept = file[at];
    for (int change : {0x01, 0x04, 0x80, 0xff}) {
      file[at] = kept ^ static_cast<std::byte>(change);
      if (const auto program = Program::parse(file)) require_invariants(*program, file);
    }
    file[at] = kept;
  }
}

TEST(DataFile, AddsItsNamesToTheProgram) {
  const ByteVector file = FileSpec().build();
  auto program = Program::parse(file);
  ASSERT_TRUE(program);
  const ByteVector data = data_file("bias", 0, 8, 42);
  const Status added = program->add_data_file(data);
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_TRUE(program->named("bias"));
  EXPECT_EQ((*program->named("bias"))[7], std::byte{42});
  EXPECT_TRUE(program->named("weight"));
  EXPECT_TRUE(program->add_data_file(data)) << "the same bytes again are no conflict";
}

TEST(DataFile, NamesWhatIsWrong) {
  const ByteVector file = FileSpec().build();
  const struct {
    ByteVector data;
    const char* message;
  } cases[] = {
      {file, "not a .ptd file"},
      {data_file("bias", 1, 8, 0), "named data bias: segment 1 of 1"},
      {data_file("bias", 0, 9, 0), "segment 0: 9 bytes at 0 do not fit the 8 bytes"},
      {data_file("weight", 0, 8, 0), "named data weight: given twice, with different bytes"},
  };
  for (const auto& [data, message] : cases) {
    auto program = Program::parse(file);
    ASSERT_TRUE(program);
    const Status added = program->add_data_file(data);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, kInvalid);
    EXPECT_NE(added.error().message.find(message), std::string::npos) << added.error().message;
    EXPECT_FALSE(program->named("bias"));
    EXPECT_EQ((*program->named("weight"))[0], std::byte{48}) << "left as it was";
  }
}

TEST(DataFile, EveryTruncationIsRefused) {
  const ByteVector file = FileSpec().build();
  const ByteVector data = data_file("bias", 0, 8, 0);
  for (size_t size = 0; size < data.size(); ++size) {
    auto program = Program::parse(file);
    ASSERT_TRUE(program);
    const ByteVector cut(data.begin(), data.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(program->add_data_file(cut)) << "of " << size << " bytes";
  }
}

TEST(FileMap, MapsAWholeFileAndSaysWhyNot) {
  std::string path = ::testing::TempDir() + "etwg_file_map_XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(FileMap::open(path)->bytes().empty());
  ASSERT_EQ(::write(fd, "abc", 3), 3);
  ::close(fd);
  auto map = FileMap::open(path);
  ASSERT_TRUE(map) << map.error().message;
  FileMap moved = std::move(*map);
  ASSERT_EQ(moved.bytes().size(), 3u);
  EXPECT_EQ(moved.bytes()[2], std::byte{'c'});
  ::unlink(path.c_str());
  const auto missing = FileMap::open(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find(path), std::string::npos);
  EXPECT_FALSE(FileMap::open("/"));
}

}  // namespace
}  // namespace executorch::backends::webgpu
