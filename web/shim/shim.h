#pragma once

// What the files of the shim share: handles, strings, and the functions of library_webgpu_shim.js.

#include <webgpu/webgpu.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace etwg_shim {

// A handle of webgpu.h is an index into the table of the JavaScript half, as a pointer.
template <typename T>
int id(T handle) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(handle));
}

template <typename T>
T handle(int id) {
  return reinterpret_cast<T>(static_cast<uintptr_t>(id));
}

// A WGPUStringView as the (pointer, length) that JavaScript reads; counts a null-terminated one.
struct Text {
  Text(WGPUStringView view);  // NOLINT(google-explicit-constructor): one spelling at every call

  const char* data;
  int length;
};

// A text that JavaScript allocated; frees it.
class OwnedText {
 public:
  explicit OwnedText(char* data) : data_(data) {}
  OwnedText(const OwnedText&) = delete;
  OwnedText& operator=(const OwnedText&) = delete;
  ~OwnedText();

  WGPUStringView view() const { return {data_, WGPU_STRLEN}; }
  char* release();

 private:
  char* data_;
};

// A call whose answer arrives later, once: status 0 is success, `object` a handle or a count. The
// text lives as long as the call back.
using Settle = std::function<void(int status, int object, WGPUStringView text)>;

struct Pending {
  int id;             // what the JavaScript half passes back
  WGPUFuture future;  // what the caller gets
};

Pending expect(Settle settle);
bool is_pending(WGPUFuture future);

// Takes note whom to tell of an opened device's errors and of its loss.
void add_device(int device, const WGPUDeviceDescriptor* descriptor);

// Frees the host memory of a buffer's mapped ranges.
void forget_mapping(int buffer);

}  // namespace etwg_shim

extern "C" {
char* etwg_js_take_text();

void etwg_js_add_ref(int handle);
int etwg_js_release(int handle);
void etwg_js_set_label(int handle, const char* label, int length);
void etwg_js_destroy(int handle);

int etwg_js_has_language_feature(const char* name);
void etwg_js_request_adapter(int pending, const char* power_preference, int force_fallback);
int etwg_js_has_feature(int handle, const char* name);
double etwg_js_limit(int handle, const char* name);
int etwg_js_info_number(int handle, const char* name);
char* etwg_js_info_text(int handle, const char* name);
void etwg_js_request_device(int adapter, int pending, const char* requirements, const char* label,
                            int length);

int etwg_js_get_queue(int device);
void etwg_js_push_error_scope(int device, const char* filter);
void etwg_js_pop_error_scope(int device, int pending);
int etwg_js_create_shader_module(int device, const char* code, int code_length, const char* label,
                                 int length);
void etwg_js_compilation_info(int module, int pending);
char* etwg_js_compilation_message(int index, double* numbers);
int etwg_js_create_bind_group_layout(int device, const double* entries, int count,
                                     const char* label, int length);
int etwg_js_create_pipeline_layout(int device, const int* layouts, int count, const char* label,
                                   int length);
int etwg_js_create_compute_pipeline(int device, int layout, int module, const char* entry,
                                    int entry_length, const char* constants, const char* label,
                                    int length);
void etwg_js_create_compute_pipeline_async(int device, int pending, int layout, int module,
                                           const char* entry, int entry_length,
                                           const char* constants, const char* label, int length);
int etwg_js_pipeline_bind_group_layout(int pipeline, int group);
int etwg_js_create_bind_group(int device, int layout, const double* entries, int count,
                              const char* label, int length);
int etwg_js_create_query_set(int device, int count, const char* label, int length);

int etwg_js_create_buffer(int device, int usage, double size, int mapped, const char* label,
                          int length);
void etwg_js_map_async(int buffer, int pending, int mode, double offset, double size);
int etwg_js_copy_mapped(int buffer, double map_offset, double map_size, double offset, double size,
                        const void* memory, int to_buffer);
void etwg_js_unmap(int buffer);

void etwg_js_write_buffer(int queue, int buffer, double offset, const void* data, double size);
void etwg_js_submit(int queue, const int* commands, int count);
void etwg_js_work_done(int queue, int pending);

int etwg_js_create_encoder(int device, const char* label, int length);
int etwg_js_begin_pass(int encoder, int query_set, int begin, int end, const char* label,
                       int length);
void etwg_js_copy_buffer(int encoder, int source, double source_offset, int destination,
                         double destination_offset, double size);
void etwg_js_clear_buffer(int encoder, int buffer, double offset, double size);
void etwg_js_resolve_queries(int encoder, int query_set, int first, int count, int destination,
                             double offset);
int etwg_js_finish(int encoder, const char* label, int length);
void etwg_js_set_pipeline(int pass, int pipeline);
void etwg_js_set_bind_group(int pass, int index, int group, const uint32_t* offsets, int count);
void etwg_js_dispatch(int pass, uint32_t x, uint32_t y, uint32_t z);
void etwg_js_dispatch_indirect(int pass, int buffer, double offset);
void etwg_js_end_pass(int pass);
void etwg_js_debug_group(int encoder, const char* push, int length);
}
