# SPDX-License-Identifier: BSD-3-Clause
"""WebGPU backend for ExecuTorch.

Importing this package makes ExecuTorch's runtime run delegated programs on the GPU, in whichever
order the two are imported:

    import executorch_webgpu
    from executorch.runtime import Runtime
    method = Runtime.get().load_program("model.pte").load_method("forward")
    outputs = method.execute([x])

Exporting needs neither a GPU nor the native library:

    from executorch_webgpu import WebGPUPartitioner

If the library cannot be loaded, the import warns and goes on; load() raises the same message.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ._native import WebGPUError, backend_ids, devices, last_error, library_path, load

if TYPE_CHECKING:
    from .delegation import Delegation, delegation_of
    from .partitioner import WebGPUBackend, WebGPUPartitioner

__all__ = [
    "Delegation",
    "WebGPUBackend",
    "WebGPUError",
    "WebGPUPartitioner",
    "backend_ids",
    "delegation_of",
    "devices",
    "last_error",
    "library_path",
    "load",
]
__version__ = "0.1.0"

# What needs the exporter, which takes seconds to import: only when it is asked for.
_EXPORT_SIDE = {
    "WebGPUPartitioner": "partitioner",
    "WebGPUBackend": "partitioner",
    "Delegation": "delegation",
    "delegation_of": "delegation",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORT_SIDE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_EXPORT_SIDE[name]}", __name__), name)


try:
    load()
except WebGPUError as problem:
    warnings.warn(f"{problem} (exporting still works)", stacklevel=2)
