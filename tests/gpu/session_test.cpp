// Programs that call several delegates, without ExecuTorch: what passes between the calls, what is
// refused, and the way that never blocks.
#include "session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "../cpp/payload_blob.h"
#include "../cpp/program_file.h"
#include "program_spec.h"

namespace executorch::backends::webgpu::test {
namespace {

using Floats = std::vector<float>;

// y = x + number, for x of up to these sizes.
std::vector<std::byte> add_number(std::vector<uint32_t> dims, double number) {
  BlobSpec blob;
  blob.values = {BlobSpec::tensor(dims), BlobSpec::real(number), BlobSpec::integer(1),
                 BlobSpec::tensor(dims)};
  blob.chain = {{"aten.add.Scalar", {0, 1, 2, 3}}};
  blob.inputs = {0};
  blob.outputs = {3};
  return blob.build();
}

// z = a * b.
std::vector<std::byte> multiply(std::vector<uint32_t> dims, BlobSpec::TensorSpec type = {}) {
  BlobSpec blob;
  for (int i = 0; i < 3; ++i) blob.values.push_back(BlobSpec::tensor(dims, type));
  blob.chain = {{"aten.mul.Tensor", {0, 1, 2}}};
  blob.inputs = {0, 1};
  blob.outputs = {2};
  return blob.build();
}

// The size of the first dimension, and the same tensor times itself.
std::vector<std::byte> size_and_square(std::vector<uint32_t> dims) {
  BlobSpec blob;
  blob.values = {BlobSpec::tensor(dims), BlobSpec::integer(0), BlobSpec::symint(),
                 BlobSpec::tensor(dims)};
  blob.chain = {{"sym_size.int", {0, 1, 2}}, {"aten.mul.Tensor", {0, 0, 3}}};
  blob.inputs = {0};
  blob.outputs = {2, 3};
  return blob.build();
}

// integer + 3.
std::vector<std::byte> add_to_integer() {
  BlobSpec blob;
  blob.values = {BlobSpec::symint(), BlobSpec::integer(3), BlobSpec::symint()};
  blob.chain = {{"add", {0, 1, 2}}};
  blob.inputs = {0};
  blob.outputs = {2};
  return blob.build();
}

// Holds what a session reads from.
struct Loaded {
  explicit Loaded(const ProgramSpec& spec) : file(spec.build()) {
    auto parsed = Program::parse(file);
    if (!parsed) {
      error = parsed.error().message;
      return;
    }
    program = std::move(*parsed);
    auto loaded = Session::load(program, "forward");
    if (!loaded) {
      error = loaded.error().message;
      return;
    }
    session = std::move(*loaded);
  }

  std::vector<std::byte> file;
  Program program;
  std::unique_ptr<Session> session;
  std::string error;
};

HostTensorView view(const Floats& elements, Shape dims) {
  return {elements.data(), DType::kFloat32, dims};
}

std::string message(const Status& status) { return status ? "" : status.error().message; }

Floats floats(const Session& session, size_t i) {
  const auto value = session.output(i);
  if (!value) {
    ADD_FAILURE() << value.error().message;
    return {};
  }
  const auto* array = std::get_if<HostArray>(&*value);
  if (array == nullptr || array->dtype != DType::kFloat32) {
    ADD_FAILURE() << "output " << i << " is no float32 tensor";
    return {};
  }
  Floats out(static_cast<size_t>(array->dims.numel()));
  std::memcpy(out.data(), array->data.data(), out.size() * sizeof(float));
  return out;
}

int64_t integer(const Session& session, size_t i) {
  const auto value = session.output(i);
  if (!value || !std::holds_alternative<int64_t>(*value)) {
    ADD_FAILURE() << "output " << i << " is no integer";
    return INT64_MIN;
  }
  return std::get<int64_t>(*value);
}

Floats counting(size_t count) {
  Floats out(count);
  std::iota(out.begin(), out.end(), 0.0F);
  return out;
}

TEST(Session, PassesTensorsFromDelegateToDelegate) {
  ProgramSpec spec;
  const int32_t x = spec.tensor({4, 3}, true), y = spec.tensor({4, 3}, true),
                z = spec.tensor({4, 3}, true);
  spec.inputs = {x};
  spec.outputs = {z, y};
  const int32_t first = spec.delegate(add_number({4, 3}, 1.0));
  const int32_t second = spec.delegate(multiply({4, 3}));
  spec.call(first, {x, y});
  spec.call(second, {x, y, z});
  Loaded loaded(spec);
  ASSERT_NE(loaded.session, nullptr) << loaded.error;
  EXPECT_EQ(loaded.session->call_count(), 2u);
  for (const int64_t rows : {4, 1, 0, 3, 4}) {
    const Floats input = counting(static_cast<size_t>(rows) * 3);
    const HostInput inputs[] = {view(input, {rows, 3})};
    ASSERT_EQ(message(loaded.session->run(inputs)), "");
    Floats sums, products;
    for (float v : input) {
      sums.push_back(v + 1);
      products.push_back(v * (v + 1));
    }
    EXPECT_EQ(floats(*loaded.session, 0), products) << rows;
    EXPECT_EQ(floats(*loaded.session, 1), sums) << rows;
  }
}

TEST(Session, CallsOneDelegateTwice) {
  ProgramSpec spec;
  const int32_t x = spec.tensor({5}), y = spec.tensor({5}), z = spec.tensor({5});
  spec.inputs = {x};
  spec.outputs = {z};
  const int32_t add = spec.delegate(add_number({5}, 0.5));
  spec.call(add, {x, y});
  spec.call(add, {y, z});
  Loaded loaded(spec);
  ASSERT_NE(loaded.session, nullptr) << loaded.error;
  EXPECT_EQ(&loaded.session->executable(0), &loaded.session->executable(1));
  EXPECT_EQ(loaded.session->gpu_bytes(), loaded.session->executable(0).gpu_bytes());
  const Floats input = counting(5);
  const HostInput inputs[] = {view(input, {5})};
  ASSERT_EQ(message(loaded.session->run(inputs)), "");
  EXPECT_EQ(floats(*loaded.session, 0), (Floats{1, 2, 3, 4, 5}));
}

TEST(Session, PassesIntegersFromDelegateToDelegate) {
  ProgramSpec spec;
  const int32_t x = spec.tensor({6, 2}, true), y = spec.tensor({6, 2}, true);
  const int32_t rows = spec.integer(6), more = spec.integer(9);
  // An integer may also travel as a tensor of one element.
  const int32_t boxed = spec.tensor({}, false, ProgramSpec::ScalarType::LONG);
  const int32_t unboxed = spec.integer(0);
  spec.inputs = {x};
  spec.outputs = {rows, more, y, boxed, unboxed};
  const int32_t first = spec.delegate(size_and_square({6, 2}));
  const int32_t second = spec.delegate(add_to_integer());
  spec.call(first, {x, rows, y});
  spec.call(second, {rows, more});
  spec.call(second, {more, boxed});
  spec.call(second, {boxed, unboxed});
  Loaded loaded(spec);
  ASSERT_NE(loaded.session, nullptr) << loaded.error;
  for (const int64_t n : {6, 2, 5}) {
    const Floats input = counting(static_cast<size_t>(n) * 2);
    const HostInput inputs[] = {view(input, {n, 2})};
    ASSERT_EQ(message(loaded.session->run(inputs)), "");
    EXPECT_EQ(integer(*loaded.session, 0), n);
    EXPECT_EQ(integer(*loaded.session, 1), n + 3);
    EXPECT_EQ(integer(*loaded.session, 4), n + 9);
    const auto box = loaded.session->output(3);
    ASSERT_TRUE(box);
    int64_t inside = 0;
    std::memcpy(&inside, std::get<HostArray>(*box).data.data(), sizeof(inside));
    EXPECT_EQ(inside, n + 6);
    EXPECT_EQ(floats(*loaded.session, 2).size(), input.size());
  }
}

TEST(Session, NeverBlocksWhenSplit) {
  ProgramSpec spec;
  const int32_t x = spec.tensor({3}), y = spec.tensor({3}), z = spec.tensor({3});
  spec.inputs = {x};
  spec.outputs = {z};
  spec.call(spec.delegate(add_number({3}, 1.0)), {x, y});
  spec.call(spec.delegate(multiply({3})), {y, y, z});
  const std::vector<std::byte> file = spec.build();
  const auto program = Program::parse(file);
  ASSERT_TRUE(program) << program.error().message;
  const auto device = Device::acquire({});
  ASSERT_TRUE(device) << device.error().message;
  const auto session = Session::create(*device, *program, "forward", {});
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_EQ(message((*session)->compiled().wait()), "");
  ASSERT_EQ(message((*session)->finish_load()), "");
  for (int run = 0; run < 2; ++run) {
    const Floats input = {1.0F, 2.0F, static_cast<float>(run)};
    const HostInput inputs[] = {view(input, {3})};
    ASSERT_EQ(message((*session)->set_inputs(inputs)), "");
    for (size_t call = 0; call < (*session)->call_count(); ++call) {
      ASSERT_EQ(message((*session)->begin(call)), "");
      ASSERT_EQ(message((*session)->done(call).wait()), "");
      ASSERT_EQ(message((*session)->finish(call)), "");
    }
    const float last = static_cast<float>((run + 1) * (run + 1));
    EXPECT_EQ(floats(**session, 0), (Floats{4, 9, last}));
  }
}

TEST(Session, ReadsConstantsOfTheMethod) {
  ProgramSpec spec;
  const Floats tens = {10, 20, 30};
  const int32_t x = spec.tensor({3}), c = spec.constant({3}, tens), z = spec.tensor({3});
  spec.inputs = {x};
  spec.outputs = {z, x, c};
  spec.call(spec.delegate(multiply({3})), {x, c, z});
  Loaded loaded(spec);
  ASSERT_NE(loaded.session, nullptr) << loaded.error;
  std::fill(loaded.file.begin(), loaded.file.end(), std::byte{0xff});  // not needed any more
  const Floats input = {1, 2, 3};
  const HostInput inputs[] = {view(input, {3})};
  ASSERT_EQ(message(loaded.session->run(inputs)), "");
  EXPECT_EQ(floats(*loaded.session, 0), (Floats{10, 40, 90}));
  EXPECT_EQ(floats(*loaded.session, 1), input) << "an output that is an input";
  EXPECT_EQ(floats(*loaded.session, 2), tens) << "an output that is a constant";
}

TEST(Session, ConvertsLongs) {
  ProgramSpec spec;
  const auto type = ProgramSpec::ScalarType::LONG;
  const int32_t a = spec.tensor({2}, false, type), z = spec.tensor({2}, false, type);
  spec.inputs = {a};
  spec.outputs = {z};
  BlobSpec::TensorSpec ints;
  ints.dtype = vkgraph::VkDataType::INT32;
  spec.call(spec.delegate(multiply({2}, ints)), {a, a, z});
  Loaded loaded(spec);
  ASSERT_NE(loaded.session, nullptr) << loaded.error;
  const int64_t small[] = {-7, 1000}, big[] = {1, int64_t{1} << 40};
  const HostInput inputs[] = {HostTensorView{small, DType::kInt64, {2}}};
  ASSERT_EQ(message(loaded.session->run(inputs)), "");
  const auto value = loaded.session->output(0);
  ASSERT_TRUE(value);
  const auto& array = std::get<HostArray>(*value);
  EXPECT_EQ(array.dtype, DType::kInt64);
  int64_t got[2];
  std::memcpy(got, array.data.data(), sizeof(got));
  EXPECT_EQ(got[0], 49);
  EXPECT_EQ(got[1], 1000000);
  const HostInput too_big[] = {HostTensorView{big, DType::kInt64, {2}}};
  EXPECT_NE(message(loaded.session->run(too_big)).find("1099511627776"), std::string::npos);
  ASSERT_EQ(message(loaded.session->run(inputs)), "") << "a failed run must not spoil the next";
}

TEST(Session, RefusesWrongInputs) {
  ProgramSpec spec;
  const int32_t x = spec.tensor({4, 2}, true), f = spec.tensor({3}), n = spec.integer(1);
  const int32_t y = spec.tensor({4, 2}, true), m = spec.integer(1);
  spec.inputs = {x, f, n};
  spec.outputs = {y, m};
  spec.call(spec.delegate(add_number({4, 2}, 1.0)), {x, y});
  spec.call(spec.delegate(add_to_integer()), {n, m});
  Loaded loaded(spec);
  ASSERT_NE(loaded.session, nullptr) << loaded.error;
  const Floats data = counting(32);
  const HostInput good[] = {view(data, {2, 2}), view(data, {3}), int64_t{4}};
  const auto run = [&](size_t index, HostInput input) {
    std::vector<HostInput> inputs(good, good + 3);
    inputs[index] = input;
    return message(loaded.session->run(inputs));
  };
  EXPECT_EQ(message(loaded.session->run(std::span(good, 2))),
            "2 inputs were passed, method forward takes 3");
  EXPECT_EQ(message(loaded.session->check_input(3, int64_t{4})),
            "there is no input 3: method forward takes 3");
  EXPECT_EQ(run(0, int64_t{3}), "input 0 should be a tensor but is an integer");
  EXPECT_EQ(run(2, view(data, {1})), "input 2 should be an integer but is a tensor");
  EXPECT_EQ(run(1, view(data, {2})), "input 1 has sizes [2], the program takes [3]");
  EXPECT_EQ(run(0, view(data, {4, 4})), "input 0 has sizes [4, 4], the program takes up to [4, 2]");
  EXPECT_EQ(run(0, view(data, {2, 2, 2})),
            "input 0 has sizes [2, 2, 2], the program takes up to [4, 2]");
  EXPECT_EQ(run(0, HostTensorView{data.data(), DType::kInt32, {2, 2}}),
            "input 0 has type int32, the program takes float32");
  // ExecuTorch takes any sizes with few enough elements; the graph does not.
  EXPECT_NE(run(0, view(data, {1, 8})), "");
  ASSERT_EQ(message(loaded.session->run(good)), "");
  EXPECT_EQ(floats(*loaded.session, 0), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(integer(*loaded.session, 1), 7);
}

// A program of one call, y = x + 1, changed by `change`.
std::string refusal(const std::function<void(ProgramSpec&, int32_t x, int32_t y)>& change) {
  ProgramSpec spec;
  const int32_t x = spec.tensor({2}), y = spec.tensor({2});
  spec.inputs = {x};
  spec.outputs = {y};
  change(spec, x, y);
  spec.call(spec.delegate(add_number({2}, 1.0)), {x, y});
  Loaded loaded(spec);
  if (loaded.session == nullptr) return loaded.error;
  const Floats data = {1, 2};
  const HostInput inputs[] = {view(data, {2})};
  const Status status = loaded.session->run(inputs);
  if (!status) return status.error().message;
  const auto output = loaded.session->output(0);
  return output ? "" : output.error().message;
}

TEST(Session, NamesWhatItCannotRun) {
  EXPECT_EQ(refusal([](ProgramSpec&, int32_t, int32_t) {}), "");
  EXPECT_EQ(refusal([](ProgramSpec& spec, int32_t x, int32_t y) {
              spec.operators = {"aten::sort.values", "aten::add.out"};
              spec.call_kernel(1, {x, y});
            }),
            "method forward needs ExecuTorch's CPU kernels for aten::sort.values, aten::add.out: "
            "only fully delegated programs can be run here");
  EXPECT_NE(refusal([](ProgramSpec& spec, int32_t x, int32_t y) { spec.move(x, y); }).find("move"),
            std::string::npos);
  EXPECT_EQ(refusal([](ProgramSpec& spec, int32_t, int32_t) { spec.backend = "XnnpackBackend"; }),
            "a delegate is for XnnpackBackend; only VulkanBackend and WebGPUBackend can be run "
            "here");
  EXPECT_EQ(refusal([](ProgramSpec& spec, int32_t, int32_t) { spec.backend = "WebGPUBackend"; }),
            "");
  EXPECT_EQ(refusal([](ProgramSpec& spec, int32_t, int32_t) { spec.external({2}, "weights"); }),
            "tensor weights is not in the program's data (is a .ptd file missing?)");
  EXPECT_EQ(refusal([](ProgramSpec& spec, int32_t, int32_t) { spec.outputs = {spec.tensor({2})}; }),
            "output 0 is never written");
  EXPECT_EQ(refusal([](ProgramSpec& spec, int32_t, int32_t) { spec.outputs = {spec.real(1)}; }),
            "output 0 is neither a tensor nor an integer");
}

TEST(Session, RefusesSizesThatTheDataFileDoesNotHold) {
  ProgramSpec spec;
  spec.external({1 << 29, 1 << 29}, "weights");
  const std::vector<std::byte> file = spec.build(), data = data_file("weights", 0, 8, 0);
  auto program = Program::parse(file);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(message(program->add_data_file(data)), "");
  const auto session = Session::load(*program, "forward");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kInvalidProgram);
  EXPECT_EQ(session.error().message,
            "value 0 of sizes [536870912, 536870912] is longer than the 8 bytes that are stored");
}

// A program whose only call has these arguments.
std::string refused_call(const std::function<std::vector<int32_t>(ProgramSpec&)>& args,
                         bool with_integer = false) {
  ProgramSpec spec;
  spec.call(spec.delegate(with_integer ? add_to_integer() : add_number({2}, 1.0)), args(spec));
  Loaded loaded(spec);
  if (loaded.session == nullptr) return loaded.error;
  return message(loaded.session->run({}));
}

TEST(Session, NamesArgumentsThatDoNotFit) {
  const Floats two = {1, 2};
  EXPECT_NE(refused_call([&](ProgramSpec& s) {
              return std::vector{s.constant({2}, two)};
            }).find("call 0 has 1 arguments, its delegate 1 inputs and 1 outputs"),
            std::string::npos);
  EXPECT_EQ(
      refused_call([&](ProgramSpec& s) { return std::vector{s.constant({2}, two), s.real(1)}; }),
      "argument 1 of call 0 is neither a tensor nor an integer");
  EXPECT_EQ(refused_call([&](ProgramSpec& s) {
              return std::vector{s.constant({2}, two),
                                 s.tensor({2}, false, ProgramSpec::ScalarType::SHORT)};
            }),
            "argument 1 of call 0 has an element type that is not supported");
  EXPECT_EQ(refused_call([&](ProgramSpec& s) {
              return std::vector{s.constant({2}, two),
                                 s.tensor({1, 2}, false, ProgramSpec::ScalarType::FLOAT, {1, 0})};
            }),
            "argument 1 of call 0: its memory is not row-major (channels last?)");
  EXPECT_EQ(refused_call([&](ProgramSpec& s) { return std::vector{s.tensor({2}), s.tensor({2})}; }),
            "value 0 is read before it is written");
  EXPECT_EQ(refused_call([&](ProgramSpec& s) { return std::vector{s.integer(2), s.tensor({2})}; }),
            "a delegate's input 0 should be a tensor but is an integer");
  EXPECT_EQ(refused_call(
                [&](ProgramSpec& s) { return std::vector{s.constant({2}, two), s.tensor({3})}; }),
            "a delegate's output 0 has sizes [2], value 1 takes [3]");
  EXPECT_EQ(
      refused_call([&](ProgramSpec& s) { return std::vector{s.constant({2}, two), s.integer(0)}; }),
      "a delegate's output 0 is a tensor");
  EXPECT_EQ(
      refused_call([&](ProgramSpec& s) { return std::vector{s.constant({2}, two), s.integer(0)}; },
                   true),
      "a delegate's input 0 should be an integer");
  EXPECT_EQ(
      refused_call([&](ProgramSpec& s) { return std::vector{s.integer(1), s.tensor({2})}; }, true),
      "a delegate's output 0 is an integer");
}

TEST(Session, NamesAMissingMethod) {
  ProgramSpec spec;
  const std::vector<std::byte> file = spec.build();
  const auto program = Program::parse(file);
  ASSERT_TRUE(program) << program.error().message;
  const auto session = Session::load(*program, "backward");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(session.error().message, "the program has no method backward; it has forward");
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
