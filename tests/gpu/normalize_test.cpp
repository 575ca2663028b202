// softmax and the norms against formulas in float64, where float32 is at its worst.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Values random(DType dtype, const Shape& dims, double low, double high) {
  std::mt19937 generator(static_cast<unsigned>(dims.numel()));
  std::uniform_real_distribution<double> uniform(low, high);
  Values x{dims, {}};
  for (int64_t i = 0; i < dims.numel(); ++i) x.data.push_back(uniform(generator));
  x.data = rounded(dtype, x.data);
  return x;
}

// Replaces every line of `length` elements that lie `inner` apart by what `rewrite` makes of it.
Values by_line(const Values& x, int64_t length, int64_t inner,
               const std::function<void(std::vector<double>&)>& rewrite) {
  Values out = x;
  std::vector<double> line(static_cast<size_t>(length));
  for (int64_t i = 0; i < x.dims.numel() / std::max<int64_t>(length, 1); ++i) {
    const int64_t first = i / inner * inner * length + i % inner;
    const auto at = [&](int64_t k) { return static_cast<size_t>(first + k * inner); };
    for (int64_t k = 0; k < length; ++k) line[static_cast<size_t>(k)] = x.data[at(k)];
    rewrite(line);
    for (int64_t k = 0; k < length; ++k) out.data[at(k)] = line[static_cast<size_t>(k)];
  }
  return out;
}

void softmax(std::vector<double>& line) {
  const double top = *std::max_element(line.begin(), line.end());
  double sum = 0;
  for (double& v : line) sum += v = std::exp(v - top);
  for (double& v : line) v /= sum;
}

void log_softmax(std::vector<double>& line) {
  const double top = *std::max_element(line.begin(), line.end());
  double sum = 0;
  for (double v : line) sum += std::exp(v - top);
  for (double& v : line) v -= top + std::log(sum);
}

void normalize(std::vector<double>& line) {
  double mean = 0, squares = 0;
  for (double v : line) mean += v / static_cast<double>(line.size());
  for (double v : line) squares += (v - mean) * (v - mean);
  for (double& v : line) {
    v = (v - mean) / std::sqrt(squares / static_cast<double>(line.size()) + 1e-5);
  }
}

// Rows that are long and short, whole groups of four elements and not, last dim and middle one.
TEST(Normalize, SoftmaxOfLargeValues) {
  for (const Options& options : device_variants()) {
    for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
      for (const auto& [dims, dim] : {std::pair<Shape, int>{{3, 5, 260}, -1},
                                      {{6, 131}, 1},
                                      {{7, 9}, -1},
                                      {{4, 70, 6}, 1},
                                      {{5, 8}, 0}}) {
        GraphBuilder b;
        const V x = b.input(dtype, dims);
        b.output(b.op("aten._softmax.default", {x, dim, false}, dtype, dims));
        b.output(b.op("aten._log_softmax.default", {x, dim, false}, dtype, dims));
        Loaded loaded(std::move(b), options);
        Shape fewer = dims;  // live sizes for other kernels
        for (int d = 0; d < fewer.rank(); ++d) fewer[d] -= 1;
        for (const Shape& live : {dims, fewer}) {
          const Values input = random(dtype, live, -300, 300);
          const int at = dim < 0 ? dim + live.rank() : dim;
          const int64_t inner = live.numel(at + 1, live.rank());
          const auto out = loaded.run({input});
          ASSERT_EQ(out.size(), 2u);
          const double half = dtype == DType::kFloat16 ? 1.0 / 2048 : 0;
          const std::string what = to_string(live);
          expect_values(out[0], by_line(input, live[at], inner, softmax),
                        {1e-7 + half / 8, 2e-6 + half}, what);
          expect_values(out[1], by_line(input, live[at], inner, log_softmax), {1e-6, 2e-6 + half},
                        what);
        }
      }
    }
  }
}

TEST(Normalize, SoftmaxOfInfinities) {
  for (const Options& options : device_variants()) {
    for (const Shape& dims : {Shape{5, 4}, Shape{5, 132}}) {
      GraphBuilder b;
      const V x = b.input(DType::kFloat32, dims);
      b.output(b.op("aten._softmax.default", {x, -1, false}, DType::kFloat32, dims));
      b.output(b.op("aten._log_softmax.default", {x, -1, false}, DType::kFloat32, dims));
      Loaded loaded(std::move(b), options);
      const int64_t n = dims[1];
      Values input{dims, std::vector<double>(static_cast<size_t>(5 * n), 1.0)};
      Values expected{
          dims, std::vector<double>(static_cast<size_t>(5 * n), 1.0 / static_cast<double>(n))};
      const auto fill = [n](Values& values, int64_t row, double first, double others) {
        for (int64_t i = 0; i < n; ++i) {
          values.data[static_cast<size_t>(row * n + i)] = i == 0 ? first : others;
        }
      };
      fill(input, 0, -kInfinity, -kInfinity);
      fill(expected, 0, kNaN, kNaN);
      fill(input, 1, 5, -kInfinity);
      fill(expected, 1, 1, 0);
      fill(input, 2, kInfinity, 0);
      fill(expected, 2, kNaN, kNaN);
      fill(input, 3, kNaN, 0);
      fill(expected, 3, kNaN, kNaN);
      const auto out = loaded.run({input});
      ASSERT_EQ(out.size(), 2u);
      expect_values(out[0], expected, {0, 1e-6});
      for (double& v : expected.data) v = std::log(v);
      expect_values(out[1], expected, {0, 1e-6});
    }
  }
}

// Deviations of 1 about means that have no bits left for much less.
TEST(Normalize, LargeMeans) {
  for (const Options& options : device_variants()) {
    for (const Shape& dims : {Shape{6, 384}, Shape{6, 131}, Shape{6, 12}, Shape{6, 7}}) {
      GraphBuilder b;
      const V x = b.input(DType::kFloat32, dims);
      const V y = b.tensor(DType::kFloat32, dims), mean = b.tensor(DType::kFloat32, {6, 1}),
              deviation = b.tensor(DType::kFloat32, {6, 1});
      b.call("aten.native_layer_norm.default", {x, Ints{dims[1]}, std::nullopt, std::nullopt, 1e-5},
             {y, mean, deviation});
      b.output(y);
      b.output(mean);
      Loaded loaded(std::move(b), options);
      for (double offset : {0.0, 4096.0, -1e5}) {
        const Values input = random(DType::kFloat32, dims, offset - 1, offset + 1);
        const auto out = loaded.run({input});
        ASSERT_EQ(out.size(), 2u);
        expect_values(out[0], by_line(input, dims[1], 1, normalize), {4e-6, 4e-6}, to_string(dims));
        for (size_t row = 0; row < 6; ++row) {
          double sum = 0;
          for (int64_t i = 0; i < dims[1]; ++i)
            sum += input.data[row * static_cast<size_t>(dims[1]) + static_cast<size_t>(i)];
          EXPECT_NEAR(out[1].data[row], sum / static_cast<double>(dims[1]),
                      1e-6 + std::abs(offset) * kUlp);
        }
      }
    }
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
