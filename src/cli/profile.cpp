#include "cli/command.h"
namespace executorch::backends::webgpu::cli {
void add_profile(CLI::App&, Action&) {}
}
