#!/usr/bin/env python3
"""Holds the shape of the repository: which folder of src/ includes which, where other libraries may be seen,
how long files get, and what no file may hold."""

import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent

# folder of src/ -> the folders it may include besides itself. Data goes one way: see docs/architecture.md.
INCLUDES = {
    "base": [],
    "ir": ["base"],
    "payload": ["base", "ir"],
    "program": ["base", "ir"],
    "kernels": ["base", "ir"],
    "ops": ["base", "ir", "kernels"],
    "passes": ["base", "ir"],
    "plan": ["base", "ir", "kernels", "ops", "passes"],
    "gpu": ["base"],
    "engine": ["base", "ir", "payload", "plan", "kernels", "gpu"],
    "session": ["base", "ir", "payload", "program", "plan", "engine"],
    "executorch": ["base", "ir", "engine"],
    "cli": ["base", "ir", "payload", "program", "kernels", "ops", "passes", "plan", "gpu", "engine", "session"],
}
# beginning of an included path -> the folders that may include it; a library named here stays behind them
LIBRARIES = {
    "webgpu/": ["gpu"],
    "flatbuffers/": ["base", "payload", "program"],
    "readers/": ["payload", "program"],
    "executorch/runtime": ["executorch"],
    "executorch/extension": ["executorch"],
    "nlohmann/": ["cli"],
    "CLI/": ["cli"],
}
WGPU_CALL = re.compile(r"\bwgpu[A-Z]\w*\s*\(")  # of WebGPU's C API: in gpu/ only
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)

WARN_LINES, MOST_LINES = 400, 600  # where to ask why; where the answer is no

# Spelled in halves, so that this file may hold them.
REGISTRIES = ["py" "pi.org", "python" "hosted.org", "npm" "js.org", "npm" "js.com", "deb.deb" "ian.org",
              "debian.org/deb" "ian", "archive.ub" "untu.com", "security.ub" "untu.com",
              "download.py" "torch.org", "node" "source.com"]  # fmt: skip
PLACES = ["/wo" "rk/", "/ro" "ot/", "/ho" "me/", "../sha" "red"]
FORBIDDEN = [(text, "names a package registry's host") for text in REGISTRIES] + [
    (text, "names a place on some machine, or outside the repository") for text in PLACES
]


def files() -> list[Path]:
    """Everything git tracks or would add."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=REPO,
                         capture_output=True, text=True, check=True).stdout  # fmt: skip
    return [path for name in sorted(set(out.split("\0"))) if name and (path := REPO / name).is_file()]


def check_includes(path: Path, text: str) -> list[str]:
    relative = path.relative_to(REPO / "src")
    folder = relative.parts[0]
    if folder not in INCLUDES:
        return [f"src/{relative}: the folder {folder} is not in the table of {Path(__file__).name}"]
    problems = []
    for included in INCLUDE.findall(text):
        first = included.split("/")[0]
        if first in INCLUDES and "/" in included and first != folder and first not in INCLUDES[folder]:
            allowed = ", ".join(INCLUDES[folder]) or "nothing"
            problems.append(f"src/{relative}: includes {included}, but {folder} may include only {allowed}")
        if included.startswith(".."):
            problems.append(f"src/{relative}: includes {included}; paths start at src/")
        for beginning, allowed_in in LIBRARIES.items():
            if included.startswith(beginning) and folder not in allowed_in:
                problems.append(f"src/{relative}: includes {included}, which only {allowed_in} may")
    if folder != "gpu":
        for call in WGPU_CALL.findall(text):
            problems.append(f"src/{relative}: calls {call.rstrip('( ')}, which only gpu may")
    return problems


def check_text(path: Path, text: str) -> list[str]:
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        for forbidden, why in FORBIDDEN:
            if forbidden in line:
                problems.append(f"{path.relative_to(REPO)}:{number}: {why}: {forbidden}")
    return problems


def check_length(path: Path, text: str) -> list[str]:
    if path.suffix not in {".h", ".cpp", ".py", ".wgsl", ".js", ".mjs", ".ts", ".sh", ".cmake"}:
        return []
    lines = text.count("\n")
    if lines > MOST_LINES:
        return [f"{path.relative_to(REPO)}: {lines} lines; a file does one thing, in {MOST_LINES} at most"]
    if lines > WARN_LINES:
        print(f"warning: {path.relative_to(REPO)} has {lines} lines; about {WARN_LINES} is where to ask why")
    return []


def main() -> int:
    problems: list[str] = []
    checked = 0
    for path in files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:  # data
            continue
        checked += 1
        if path.is_relative_to(REPO / "src") and path.suffix in {".h", ".cpp"}:
            problems += check_includes(path, text)
        problems += check_text(path, text)
        problems += check_length(path, text)
    print(*problems, sep="\n")
    print(f"{checked} files checked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
