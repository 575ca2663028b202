#pragma once

// What the loadable plug-in exports beside its registration, for the Python package.

#define ETWEBGPU_EXPORT __attribute__((visibility("default")))

extern "C" {

// The message of this thread's last failed load or run; "" when there was none. Valid until the
// thread's next failure.
ETWEBGPU_EXPORT const char* etwebgpu_last_error(void);

// A JSON object: {"devices": [...]} or {"error": "..."}. Valid until this thread's next call.
ETWEBGPU_EXPORT const char* etwebgpu_devices_json(void);

// The backend ids that this plug-in answers to, separated by commas.
ETWEBGPU_EXPORT const char* etwebgpu_backend_ids(void);

// References to this symbol keep the registration when linking statically.
ETWEBGPU_EXPORT extern const int etwebgpu_backend_registration;
}
