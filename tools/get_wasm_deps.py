#!/usr/bin/env python3
"""Fetches what the wasm build and its tests need beside Emscripten, into .deps/wasm:

include/webgpu/webgpu.h   the standard header, which web/shim implements (out of PyPI's wgpu)
node_modules/webgpu       WebGPU for node (npm's webgpu), with `--tests`

A second run only looks.
"""

import argparse
import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

import fetch

HEADER = {
    "requirement": "wgpu==0.32.0",
    "digest": "6499a31b5a29a10b4f1089fea4a0806411f42605fa86b6c0b543a07ca0de8568",
    "python": "3.11",
    "platform": "manylinux_2_28_x86_64",  # the wheel's; the header is the same in all
}
HEADER_MEMBER = "wgpu/resources/webgpu.h"
DEST = fetch.DEPS / "wasm"
LOCK = fetch.REPO / "tests" / "wasm"


def get_header() -> None:
    target = DEST / "include" / "webgpu" / "webgpu.h"
    stamp = DEST / "header.stamp"
    if stamp.exists() and target.exists() and stamp.read_text() == HEADER["digest"]:
        return
    with fetch.scratch() as scratch:
        wheel = fetch.pip_wheel(
            HEADER["requirement"], HEADER["digest"], Path(scratch),
            python=HEADER["python"], platform=HEADER["platform"],
        )  # fmt: skip
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            target.write_bytes(archive.read(HEADER_MEMBER))
    stamp.write_text(HEADER["digest"])


def get_node_webgpu() -> None:
    lock = LOCK / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = DEST / "node.stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCK / name, DEST)
    # The lock file pins every package by its hash. No install script is run: there is nothing to build.
    with fetch.scratch() as scratch:
        fetch.run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=DEST,
                  env=fetch.node_environment(Path(scratch)))  # fmt: skip
    stamp.write_text(wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fetches what the wasm build needs.")
    parser.add_argument("--tests", action="store_true", help="also what the tests in node need")
    args = parser.parse_args()
    DEST.mkdir(parents=True, exist_ok=True)
    try:
        get_header()
        if args.tests:
            get_node_webgpu()
    except fetch.FetchError as error:
        sys.exit(f"get_wasm_deps: {error}")


if __name__ == "__main__":
    main()
