# SPDX-License-Identifier: BSD-3-Clause
"""Finds and loads the plug-in, and calls the C functions that it exports beside its backend."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
_NAME = f"libexecutorch_backend_webgpu{_SUFFIX}"
_HERE = Path(__file__).resolve().parent

_library: ctypes.CDLL | None = None


class WebGPUError(RuntimeError):
    """The backend cannot be loaded, or has no device. The message says what to do about it."""


def library_path() -> Path:
    """The plug-in that load() takes: ETWEBGPU_LIBRARY, else the one in this package, else that of
    a build folder (ETWEBGPU_BUILD, or out/ in a checkout of the sources)."""
    named = os.environ.get("ETWEBGPU_LIBRARY")
    if named:
        if not Path(named).is_file():
            raise WebGPUError(f"ETWEBGPU_LIBRARY names {named}, which is not a file")
        return Path(named)
    candidates = [_HERE / _NAME]
    build = os.environ.get("ETWEBGPU_BUILD")
    if build:
        candidates.append(Path(build) / _NAME)
    if (_HERE.parents[1] / "CMakeLists.txt").is_file():
        candidates.append(_HERE.parents[1] / "out" / _NAME)
    for path in candidates:
        if path.is_file():
            return path
    raise WebGPUError(
        f"{_NAME} was not found in {', '.join(str(path.parent) for path in candidates)}. Install "
        "the executorch-webgpu wheel, or build the CMake target executorch_backend_webgpu and set "
        "ETWEBGPU_BUILD to the build folder"
    )


def load() -> Path:
    """Loads the plug-in, which registers its backend with ExecuTorch's runtime. A second call does
    nothing. Raises WebGPUError."""
    global _library
    path = library_path()
    if _library is None:
        _load_executorch()
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise WebGPUError(_explain(path, str(error))) from None
        for name in ("etwebgpu_devices_json", "etwebgpu_last_error", "etwebgpu_backend_ids"):
            getattr(library, name).restype = ctypes.c_char_p
        _library = library
    return path


def devices() -> list[dict[str, Any]]:
    """The machine's adapters: name, vendor, backend, driver, type, features, limits, and whether
    it is the one that models run on (ETWEBGPU_ADAPTER chooses). Raises WebGPUError if there is
    none, and says what is missing."""
    answer = json.loads(_call("etwebgpu_devices_json"))
    if "error" in answer:
        raise WebGPUError(answer["error"])
    return answer["devices"]


def backend_ids() -> tuple[str, ...]:
    """The delegate names that the plug-in answers to. VulkanBackend is missing if ExecuTorch's own
    Vulkan backend held it first."""
    return tuple(filter(None, _call("etwebgpu_backend_ids").split(",")))


def last_error() -> str:
    """Why this thread's last load or run on the GPU failed; ExecuTorch reports only a number."""
    return _call("etwebgpu_last_error")


def _call(function: str) -> str:
    load()
    return getattr(_library, function)().decode()


def _load_executorch() -> None:
    """The plug-in needs the very libexecutorch that the Python runtime uses: one registry of
    backends. Loaded first, it is found by name, wherever it is installed."""
    spec = importlib.util.find_spec("executorch")
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise WebGPUError("the package executorch is not installed: pip install executorch")
    for folder in folders:
        path = Path(folder) / "lib" / f"libexecutorch{_SUFFIX}"
        if path.is_file():
            try:
                ctypes.CDLL(str(path))
            except OSError as error:
                raise WebGPUError(f"ExecuTorch's runtime cannot be loaded: {error}") from None
            return
    raise WebGPUError(
        f"the installed executorch has no lib/libexecutorch{_SUFFIX}: version 1.5 or later is needed"
    )


def _explain(path: Path, error: str) -> str:
    """dlopen's message, with what it means to the user where that is known."""
    message = f"{path} cannot be loaded: {error}"
    if "webgpu_dawn" in error and "open shared object" in error:
        return message + (
            ". That is Dawn, the WebGPU implementation: it must lie beside the plug-in, as in the "
            "executorch-webgpu wheel, or on the library path"
        )
    if "libvulkan" in error:
        return message + ". That is the Vulkan loader: install libvulkan1 (or vulkan-loader)"
    if "undefined symbol" in error:
        return message + (
            ". The plug-in was built for another version of ExecuTorch than the one installed: "
            "rebuild it, or install the version it names"
        )
    return message
