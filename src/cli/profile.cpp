#include "cli/command.h"
namespace executorch::backends::webgpu::cli {
void add_profile(CLI::App&, Action&) {}
void add_pack(CLI::App&, Action&) {}
}
