#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>

namespace executorch::backends::webgpu {

// Largest tensor rank that the runtime accepts; files with a larger one are refused.
inline constexpr int kMaxRank = 8;

// A tensor has fewer elements than this, because kernels count them in 32 bits.
inline constexpr uint64_t kMaxElements = uint64_t{1} << 32;

// The sizes of a tensor, outermost first, held without heap memory. Rank 0 is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims) {
    for (int64_t d : dims) push_back(d);
  }

  int rank() const { return rank_; }
  int64_t operator[](int i) const {
    assert(i >= 0 && i < rank_);
    return dims_[i];
  }
  int64_t& operator[](int i) {
    assert(i >= 0 && i < rank_);
    return dims_[i];
  }
  // Size of dimension `i` counted from the last: last(0) is the innermost. 1 beyond the rank.
  int64_t last(int i) const { return i < rank_ ? dims_[rank_ - 1 - i] : 1; }

  void push_back(int64_t d) {
    assert(rank_ < kMaxRank);
    dims_[rank_++] = d;
  }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  std::span<const int64_t> span() const { return {begin(), static_cast<size_t>(rank_)}; }

  // Product of all sizes; 1 for a scalar. Saturates: a shape rule may meet sizes made of a file's
  // integers that nothing has bounded yet.
  int64_t numel() const { return numel(0, rank_); }
  // Product of the sizes [from, to).
  int64_t numel(int from, int to) const {
    int64_t n = 1;
    for (int i = from; i < to; ++i) {
      if (__builtin_mul_overflow(n, dims_[i], &n)) n = std::numeric_limits<int64_t>::max();
    }
    return n;
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// "[2, 3]", for messages.
std::string to_string(const Shape& shape);

// Row-major strides, in elements.
Shape contiguous_strides(const Shape& shape);

// The dimension `dim` of a tensor of rank `rank`, with negative values counted from the end as in
// PyTorch (a scalar counts as rank 1). -1 when out of range.
int normalize_dim(int64_t dim, int rank);

}  // namespace executorch::backends::webgpu
