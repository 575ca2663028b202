"""apt-get with lists, cache and sources in a folder of ours: packages to unpack, nothing installed.

The archive's address and its key come from the machine's own apt sources, so no package source is named
here and none is added to the system.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import fetch

KEYRINGS = [
    Path("/usr/share/keyrings") / f"{distribution}-archive-keyring.{ending}"
    for distribution in ("debian", "ubuntu")
    for ending in ("gpg", "pgp")
]


@dataclass(frozen=True)
class Source:
    uri: str
    suite: str
    component: str
    origin: str

    def line(self, suite: str | None = None) -> str:
        name = self.origin.lower() or "debian"
        keys = [str(path) for path in KEYRINGS if path.exists() and path.name.startswith(name)]
        option = f"[signed-by={keys[0]}] " if keys else ""
        return f"deb {option}{self.uri} {suite or self.suite} {self.component}"


def machine_sources() -> list[Source]:
    """The package lists that this machine's apt reads."""
    form = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)"
    lines = fetch.run("apt-get", "indextargets", "--format", form, "Created-By: Packages").splitlines()
    sources = [Source(*("" if "$(" in part else part for part in line.split("|"))) for line in lines]
    return list(dict.fromkeys(sources))


def main_source() -> Source | None:
    """The Debian archive proper (not updates or security) of the machine's own release, or None."""
    for source in machine_sources():
        if source.component == "main" and re.search(r"/debian/?$", source.uri) and "-" not in source.suite:
            return source
    return None


class PrivateApt:
    """status: the dpkg status that dependencies are resolved against; the system's own by default, so that
    only what this machine lacks is downloaded."""

    def __init__(self, folder: Path, source_lines: list[str], status: str = "/var/lib/dpkg/status"):
        self.debs = folder / "cache" / "archives"
        for name in ("state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "sources.list").write_text("".join(f"{line}\n" for line in source_lines))
        options = {
            "Dir::State": folder / "state",
            "Dir::State::status": status,
            "Dir::Cache": folder / "cache",
            "Dir::Etc::SourceList": folder / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::Log": folder,
            "APT::Sandbox::User": "",
            "APT::Keep-Downloaded-Packages": "true",
            "Acquire::Languages": "none",
            "Debug::NoLocking": "true",
            "Dpkg::Use-Pty": "0",
        }
        self._options = [text for key, value in options.items() for text in ("-o", f"{key}={value}")]

    def run(self, tool: str, *arguments: str, **options) -> str:
        return fetch.run(tool, *self._options, *arguments, **options)

    def update(self) -> None:
        self.run("apt-get", "update")

    def candidate(self, package: str, suite: str | None = None) -> str | None:
        """The version that would be installed, optionally with `suite` preferred."""
        target = ["-t", suite] if suite else []
        found = re.search(r"Candidate: (\S+)", self.run("apt-cache", "policy", *target, package))
        return None if not found or found[1] == "(none)" else found[1]

    def download(self, packages: list[str], suite: str | None = None) -> list[Path]:
        """The packages and what they need that the status lacks, as .deb files."""
        for old in self.debs.glob("*.deb"):
            old.unlink()
        target = ["-t", suite] if suite else []
        self.run("apt-get", "install", "--download-only", "--reinstall", "--yes", "--no-install-recommends",
                 "--allow-downgrades", *target, *packages)  # fmt: skip
        return sorted(self.debs.glob("*.deb"))


def unpack(debs: list[Path], root: Path) -> None:
    for deb in debs:
        subprocess.run(["dpkg-deb", "-x", str(deb), str(root)], check=True)
