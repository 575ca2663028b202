// Loads a program that adds one to a 4x4 input, runs it on the GPU and checks the answer:
//   consumer add_one.pte
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/interface.h>

#include <cstdio>
#include <vector>

using executorch::extension::from_blob;
using executorch::extension::Module;
using executorch::runtime::Error;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: consumer add_one.pte\n");
    return 2;
  }
  // Linking webgpu_backend is all it takes: nothing here refers to it by name.
  if (executorch::runtime::get_backend_class("WebGPUBackend") == nullptr) {
    std::fprintf(stderr, "WebGPUBackend is not registered\n");
    return 1;
  }

  Module module(argv[1]);
  std::vector<float> values(16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 8.0f;
  auto input = from_blob(values.data(), {4, 4});
  auto outputs = module.forward(input);
  if (!outputs.ok()) {
    std::fprintf(stderr, "forward failed: error %d\n", static_cast<int>(outputs.error()));
    return 1;
  }
  const auto output = outputs->at(0).toTensor();
  if (output.numel() != 16) {
    std::fprintf(stderr, "%zd values came back, not 16\n", static_cast<ssize_t>(output.numel()));
    return 1;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const float got = output.const_data_ptr<float>()[i];
    if (got != values[i] + 1.0f) {
      std::fprintf(stderr, "value %zu is %g, not %g\n", i, got, values[i] + 1.0f);
      return 1;
    }
  }
  std::printf("16 right values from the GPU\n");
  return 0;
}
