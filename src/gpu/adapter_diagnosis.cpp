#include "gpu/adapter_diagnosis.h"

#include <fmt/format.h>

#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#endif

namespace executorch::backends::webgpu {

#if defined(__linux__) && !defined(__EMSCRIPTEN__)
namespace {

// The driver manifests the Vulkan loader looks at, as it finds them.
std::string driver_manifests() {
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return fmt::format("{} (from {})", value, name);
  }
  std::string out;
  for (const char* folder :
       {"/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
    std::error_code error;
    std::filesystem::directory_iterator files(folder, error);
    for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
      if (!out.empty()) out += ", ";
      out += files->path().string();
    }
  }
  return out;
}

}  // namespace

std::string explain_no_adapter(std::string_view complaint) {
  std::string out = "no GPU adapter: ";
  void* loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loader == nullptr) {
    out +=
        "the Vulkan loader libvulkan.so.1 is not installed or not on the library path "
        "(Debian and Ubuntu: install libvulkan1, and the driver of your GPU)";
  } else {
    dlclose(loader);
    const std::string manifests = driver_manifests();
    if (manifests.empty()) {
      out +=
          "no Vulkan driver is registered (looked in /usr/share/vulkan/icd.d, "
          "/usr/local/share/vulkan/icd.d, /etc/vulkan/icd.d and VK_DRIVER_FILES); install the "
          "driver of your GPU, or Mesa's lavapipe for a software renderer";
    } else {
      out += fmt::format(
          "WebGPU accepted none of the Vulkan drivers {}. The driver may not match a device on "
          "this machine, or be too old (of Mesa's software renderer lavapipe, 22.3 is refused "
          "and 25.0 works)",
          manifests);
    }
  }
  if (!complaint.empty()) out += fmt::format(". WebGPU said: {}", complaint);
  return out;
}
#else
std::string explain_no_adapter(std::string_view complaint) {
#if defined(__EMSCRIPTEN__)
  std::string out =
      "no GPU adapter: this browser offers no WebGPU adapter (it may have WebGPU switched off, or "
      "refuse this machine's GPU driver)";
#else
  std::string out = "no GPU adapter: WebGPU found none on this machine";
#endif
  if (!complaint.empty()) out += fmt::format(". WebGPU said: {}", complaint);
  return out;
}
#endif

}  // namespace executorch::backends::webgpu
