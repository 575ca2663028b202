#!/usr/bin/env python3
"""Finds or fetches an Emscripten toolchain; prints the folder that holds em++ and emcmake.

In this order: EMSCRIPTEN_ROOT; the em++ on PATH if it is new enough; on a Debian, the packages of a newer
suite, downloaded with a private apt configuration (the machine's own mirror and keys), unpacked under
.deps/emscripten, and pointed at the C library unpacked beside them so that they run on an older system.
Works as root and as a user; nothing is installed. A second run only looks.
"""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fetch
import private_apt

OLDEST = (4, 0, 0)  # the oldest version whose JS libraries and flags are like those we use

# What em++ needs at run time; {v} is the LLVM release that this emscripten depends on. The interpreters
# (python3, node) are the machine's own.
PACKAGES = [
    "emscripten",
    "binaryen",
    "clang-{v}",
    "libclang-common-{v}-dev",
    "libclang-cpp{v}",
    "libllvm{v}",
    "lld-{v}",
    "llvm-{v}",
    "llvm-{v}-linker-tools",
    "libz3-4",
    "libc6",
    "libstdc++6",
    "libgcc-s1",
    "libxml2-16",
    "libzstd1",
    "libffi8",
    "zlib1g",
    "libedit2",
    "libtinfo6",
    "libbsd0",
    "libmd0",
    "liblzma5",
    "node-acorn",
    "patchelf",
]
LOADS_NEIGHBOURS = re.compile(r"lib(LLVM|clang|lld|z3|binaryen)")


def say(text: str) -> None:
    print(f"get_emscripten: {text}", file=sys.stderr, flush=True)


def version_of(folder: Path) -> tuple[int, ...] | None:
    """The version of the em++ in folder, or None when there is none that runs."""
    try:
        out = subprocess.check_output([folder / "em++", "--version"], text=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", out)
    return tuple(map(int, found.groups())) if found else None


def already_there() -> Path | None:
    """The folder of a usable em++ of the machine's own."""
    given, on_path = os.environ.get("EMSCRIPTEN_ROOT"), shutil.which("em++")
    for folder in [given, on_path and Path(on_path).resolve().parent]:
        version = version_of(Path(folder)) if folder else None
        if version and version >= OLDEST:
            return Path(folder)
        if folder:
            say(f"the em++ in {folder} is not used: {version or 'it does not run'}, at least {OLDEST} is needed")
    if given:
        raise fetch.FetchError("EMSCRIPTEN_ROOT names no em++ that can be used")
    return None


def download(folder: Path, suite: str) -> tuple[list[Path], str]:
    """(the packages, the LLVM release they use)"""
    source = private_apt.main_source()
    if source is None:
        raise fetch.FetchError(
            "no em++ here, and this machine's apt sources name no Debian archive to take one from: install "
            "the Emscripten SDK and set EMSCRIPTEN_ROOT to the folder that holds em++"
        )
    status = folder / "status"  # empty: nothing of the machine's own is to be relied on
    status.touch()
    apt = private_apt.PrivateApt(folder, [source.line(suite)], str(status))
    apt.run("apt-get", "update", "-o", "Acquire::Check-Valid-Until=false")
    llvm = re.search(r"Depends: clang-(\d+)", apt.run("apt-cache", "depends", "emscripten"))
    if not llvm:
        raise fetch.FetchError(f"emscripten of {suite} does not depend on a numbered clang any more")
    names = [name.format(v=llvm[1]) for name in PACKAGES]
    apt.run("apt-get", "download", *names, cwd=folder)
    return sorted(folder.glob("*.deb")), llvm[1]


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def patch(root: Path, llvm: str) -> None:
    """Makes the executables use the loader and the libraries of root."""
    libraries = next((root / "usr/lib").glob("*-linux-gnu"))
    loader = next(p for place in (root / "usr/lib64", libraries) for p in place.glob("ld-linux*"))
    library_path = f"{libraries}:{root}/usr/lib/llvm-{llvm}/lib"
    # patchelf comes unpacked too, and runs through the loader.
    patchelf = [loader, "--library-path", library_path, root / "usr/bin/patchelf"]

    # clang finds its headers from where it lies, so it must be patched, not wrapped.
    programs = {p.resolve() for p in (root / f"usr/lib/llvm-{llvm}/bin").iterdir()}
    programs |= {p for p in (root / "usr/bin").iterdir() if p.name.startswith("wasm")}
    for path in filter(is_elf, programs):
        subprocess.run([*patchelf, "--set-interpreter", loader, "--set-rpath", library_path, path], check=True)
    for path in filter(is_elf, libraries.glob("*.so*")):
        if LOADS_NEIGHBOURS.match(path.name):
            subprocess.run([*patchelf, "--set-rpath", library_path, path], check=True)


def configure(root: Path, llvm: str) -> None:
    """The node modules and the configuration file that the packages leave to the system."""
    home = root / "usr/share/emscripten"
    modules = home / "node_modules"
    if modules.is_symlink():
        modules.unlink()
    for module in root.glob("usr/share/nodejs/acorn*"):
        target = modules / module.name
        if target.is_symlink():
            target.unlink()
        if not target.exists():  # copied: node resolves a link to where acorn's neighbours are not
            shutil.copytree(module, target)
    own_node = fetch.node_folder()
    node = str(own_node / "node") if own_node else shutil.which("node")
    (home / ".emscripten").write_text(
        f"LLVM_ROOT = {str(root / f'usr/lib/llvm-{llvm}/bin')!r}\n"
        f"BINARYEN_ROOT = {str(root / 'usr')!r}\n"
        f"NODE_JS = {node!r}\n"
        f"CACHE = {str(root / 'cache')!r}\n"
    )


def install(dest: Path, suite: str) -> Path:
    root = dest / "root"
    home = root / "usr/share/emscripten"
    complete = dest / "complete"
    if complete.exists() and version_of(home):
        return home
    shutil.rmtree(dest, ignore_errors=True)
    root.mkdir(parents=True)
    with fetch.scratch() as scratch:
        say(f"downloading Emscripten from Debian {suite} (about 100 MB)")
        debs, llvm = download(Path(scratch), suite)
        say("unpacking it (about 430 MB)")
        private_apt.unpack(debs, root)
    patch(root, llvm)
    configure(root, llvm)
    if not version_of(home):
        raise fetch.FetchError(f"the em++ unpacked in {home} does not run")
    complete.touch()
    return home


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dest", type=Path, default=fetch.DEPS / "emscripten")
    parser.add_argument("--suite", default="forky", help="the Debian suite to take it from")
    args = parser.parse_args()
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout is for the answer
            home = already_there() or install(args.dest.resolve(), args.suite)
    except fetch.FetchError as error:
        sys.exit(f"get_emscripten: {error}")
    say("em++ " + ".".join(map(str, version_of(home) or ())))
    print(home)


if __name__ == "__main__":
    main()
