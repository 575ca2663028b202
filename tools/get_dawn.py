#!/usr/bin/env python3
"""Finds or fetches Dawn, and says which: .deps/dawn.dir (a Dawn_DIR for CMake), .deps/dawn.what (in words).

In this order: the environment's Dawn_DIR; a system package (libwebgpu-dawn-dev of Debian 14 and later); a
matching pair of released packages, pinned by SHA-256 and laid out as .deps/dawn with a CMake package.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import fetch

SYSTEM_PACKAGE = "libwebgpu-dawn-dev"
LIBRARY = {
    "requirement": "rillfacet==0.1.3",
    "digest": "b333f2c4c84df2f1105e4d0146e3c7aae8dd2200a0b6c7ded74c38e8ca0a5f93",
    "python": "3.11",
    "platform": "manylinux_2_28_x86_64",
}
LIBRARY_MEMBER = "rillfacet/libwebgpu_dawn.so"
LIBRARY_NOTICES = "rillfacet-0.1.3.dist-info/licenses/"
LIBRARY_SHA = "8481cc4a8a306d25299ddb6ee9ac3c5e6114da9e42c695adb68f86193c9de5a6"
HEADERS = {
    "name": "react-native-webgpu",
    "version": "0.10.2",
    "digest": "6bbccc00e30c51ae196f8024167a5fbd66382ffc6c5ab57a834ee64a970c037f",
}
HEADERS_FOLDER = "package/cpp/webgpu/"
CONFIG = """\
# Written by tools/get_dawn.py: the library and headers of a released Dawn as a CMake package.
get_filename_component(_dawn_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET dawn::webgpu_dawn)
  add_library(dawn::webgpu_dawn SHARED IMPORTED)
  set_target_properties(
    dawn::webgpu_dawn
    PROPERTIES IMPORTED_LOCATION "${_dawn_prefix}/lib/libwebgpu_dawn.so"
               INTERFACE_INCLUDE_DIRECTORIES "${_dawn_prefix}/include")
endif()
unset(_dawn_prefix)
"""


def given() -> tuple[Path, str] | None:
    value = os.environ.get("Dawn_DIR")  # noqa: SIM112 - CMake's spelling
    if not value or Path(value).resolve() == DAWN_CMAKE.resolve():  # ours, from an earlier env.sh
        return None
    folder = Path(value).resolve()
    if not list(folder.glob("[Dd]awn*[Cc]onfig.cmake")):
        raise fetch.FetchError(f"Dawn_DIR={value} holds no DawnConfig.cmake")
    return folder, f"{folder} (given by Dawn_DIR)"


def system() -> tuple[Path, str] | None:
    def find() -> Path | None:
        for base in ("/usr/lib", "/usr/local/lib", "/usr/lib64"):
            for config in [*Path(base).glob("cmake/Dawn/DawnConfig.cmake"),
                           *Path(base).glob("*/cmake/Dawn/DawnConfig.cmake")]:  # fmt: skip
                return config.parent
        return None

    folder = find()
    if folder is None and shutil.which("apt-cache"):
        known = subprocess.run(["apt-cache", "show", SYSTEM_PACKAGE], capture_output=True, check=False)
        if known.returncode == 0 and known.stdout:
            root = [] if os.geteuid() == 0 else ["sudo"]
            fetch.run(*root, "apt-get", "install", "-y", "--no-install-recommends", SYSTEM_PACKAGE)
            folder = find()
    return (folder, f"the system's, {folder}") if folder else None


DAWN = fetch.DEPS / "dawn"
DAWN_CMAKE = DAWN / "lib" / "cmake" / "Dawn"


def complete() -> bool:
    library = DAWN / "lib" / "libwebgpu_dawn.so"
    return (
        library.exists()
        and fetch.sha256(library) == LIBRARY_SHA
        and (DAWN / "include/webgpu/webgpu.h").exists()
        and (DAWN_CMAKE / "DawnConfig.cmake").exists()
    )


def pinned() -> tuple[Path, str]:
    what = f"{LIBRARY['requirement']} (library) and {HEADERS['name']} {HEADERS['version']} (headers), pinned"
    if complete():
        return DAWN_CMAKE, what
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise fetch.FetchError(
            f"the pinned Dawn is for x86-64 Linux, this is {platform.machine()} {platform.system()}: "
            "build or install Dawn and set Dawn_DIR to the folder of its DawnConfig.cmake"
        )
    with fetch.scratch() as scratch_name:
        scratch = Path(scratch_name)
        layout = scratch / "dawn"
        for name in ("lib/cmake/Dawn", "include/webgpu", "licenses"):
            (layout / name).mkdir(parents=True)
        with zipfile.ZipFile(fetch.pip_wheel(folder=scratch, **LIBRARY)) as wheel:
            (layout / "lib/libwebgpu_dawn.so").write_bytes(wheel.read(LIBRARY_MEMBER))
            for member in wheel.namelist():
                if member.startswith(LIBRARY_NOTICES) and not member.endswith("/"):
                    (layout / "licenses" / Path(member).name).write_bytes(wheel.read(member))
        with tarfile.open(fetch.npm_tarball(folder=scratch, **HEADERS)) as tarball:
            for member in tarball.getmembers():
                if member.isfile() and member.name.startswith(HEADERS_FOLDER):
                    data = tarball.extractfile(member).read()
                    (layout / "include/webgpu" / Path(member.name).name).write_bytes(data)
        (layout / "lib/cmake/Dawn/DawnConfig.cmake").write_text(CONFIG)
        shutil.rmtree(DAWN, ignore_errors=True)
        layout.rename(DAWN)
    if not complete():
        raise fetch.FetchError(f"{DAWN} is not what was expected after unpacking")
    return DAWN_CMAKE, what


def main() -> None:
    try:
        folder, what = given() or system() or pinned()
    except fetch.FetchError as error:
        sys.exit(f"get_dawn: {error}")
    (fetch.DEPS / "dawn.dir").write_text(f"{folder}\n")
    (fetch.DEPS / "dawn.what").write_text(f"{what}\n")
    print(f"Dawn: {what}")


if __name__ == "__main__":
    main()
