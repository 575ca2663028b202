"""The table of test steps, in the order in which they start. To add a step, add a row."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import fetch

BUILD = fetch.REPO / "out-test"
PYTHON = sys.executable
TOOLS = fetch.REPO / "tools"
Command = list[str | Path]


@dataclass
class Step:
    name: str
    text: str
    commands: list[Command]
    quick: bool = True  # also with --quick
    runner: str | None = None  # whose tests to count in the output: gtest, pytest, ctest, pack; None: it counts as one
    needs: list[str] = field(default_factory=list)  # steps without which this one cannot run
    alone: bool = False  # it keeps every core busy by itself; other steps run beside each other
    folder: str = ""  # what it writes to: steps with the same folder do not run beside each other
    environment: dict[str, str] = field(default_factory=dict)
    skip: str = ""  # why it cannot run on this machine
    limit_s: int = 1200


def tool(name: str, *arguments: str | Path) -> Command:
    return ["bash" if name.endswith(".sh") else PYTHON, TOOLS / name, *arguments]


def on(adapter: str, *command: str | Path) -> Command:
    return tool("with_adapter.sh", adapter, *command)


def why_not(adapter: str) -> str:
    """Some systems have no lavapipe that Dawn accepts. In CI that is a failure, not a reason to skip."""
    state = fetch.DEPS / adapter / "state"
    text = state.read_text().strip() if state.exists() else "not set up"
    return "" if text == "ok" or os.environ.get("CI") else text


def configure(build: Path, *options: str, cmake: str | Path = "cmake") -> Command:
    dawn = os.environ["Dawn_DIR"]  # noqa: SIM112 - CMake's spelling
    return [cmake, "-S", fetch.REPO, "-B", build, "-G", "Ninja", f"-DDawn_DIR={dawn}",
            f"-DETWG_PYTHON={PYTHON}", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *options]  # fmt: skip


CHECKS = [
    Step("layers", "include directions, file lengths, what no file may hold", [tool("check_tree.py")]),
    Step("format", "clang-format", [tool("check_format.sh")]),
    Step("ruff", "Python lint", [[PYTHON, "-m", "ruff", "check", "."]]),
    Step("shell", "shell scripts parse", [tool("check_shell.sh")]),
]

BUILDS = [
    Step(
        "build",
        "configure and build everything, warnings are errors",
        [
            # Assertions are on; optimizing more costs more to build than the tests gain.
            configure(BUILD, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1",
                      "-DEXECUTORCH_BUILD_WEBGPU=ON", "-DETWG_BUILD_TESTS=ON",
                      "-DETWG_BUILD_BENCH=ON", "-DETWG_WERROR=ON", "-DEXECUTORCH_BUILD_WEBGPU_PROFILING=ON"),
            ["cmake", "--build", BUILD],
        ],
        alone=True,
        limit_s=2400,
    ),
    Step("cpp", "C++ tests that need no GPU", [[BUILD / "etwebgpu_tests"]], runner="gtest", needs=["build"]),
]  # fmt: skip


PACK = fetch.REPO / "out/pack-quick"
PACK_STEP = Step(
    "pack",
    "export the test programs, with eager PyTorch's answers (kept until their sources change)",
    [[PYTHON, fetch.REPO / "tests/pack/export_pack.py", "--quick"]],
    alone=True,
    limit_s=2400,
)
PACK_OPTIONS: list[list[str]] = [[], ["--no-fuse"], ["--no-f16", "--no-subgroups", "--default-limits"]]


def adapter_steps(adapter: str) -> list[Step]:
    skip = why_not(adapter)
    library = {
        "PYTHONPATH": str(fetch.REPO / "python"),
        "ETWEBGPU_LIBRARY": str(BUILD / "libexecutorch_backend_webgpu.so"),
        "ETWEBGPU_BUILD": str(BUILD),
    }
    main_job: Command = [PYTHON, fetch.REPO / "examples/main_job.py", "--build", BUILD]
    return [
        Step(f"gpu-{adapter}", "C++ tests on a device", [on(adapter, BUILD / "etwebgpu_gpu_tests")],
             runner="gtest", needs=["build"], skip=skip),
        Step(f"python-{adapter}", "Python tests",
             [on(adapter, PYTHON, "-m", "pytest", "-q", fetch.REPO / "tests/python")],
             runner="pytest", environment=library, needs=["build", "pack"], skip=skip),
        Step(f"main-job-{adapter}", "the main job, checked against eager PyTorch", [on(adapter, *main_job)],
             environment=library, quick=False, needs=["build"], folder="out/models", skip=skip),
        Step(f"pack-{adapter}", "the test programs, whole and without what a device may lack",
             [on(adapter, BUILD / "etwebgpu", "pack", PACK, *options) for options in PACK_OPTIONS],
             runner="pack", needs=["build", "pack"], skip=skip),
    ]  # fmt: skip


PACKAGES = [
    Step("consumer", "cmake --install and find_package in another project",
         [tool("check_consumer.sh", BUILD)], needs=["build"], folder="out-test/consumer"),
    Step("cmake-4", "configured by CMake 4, which builds the consumer, too",
         [tool("check_cmake4.sh", BUILD)], needs=["build"], folder="out-test/consumer", quick=False),
    Step("wheel", "wheel built by CMake 4, installed in a new environment, used", [tool("check_wheel.sh")],
         alone=True, quick=False, limit_s=2400),
]  # fmt: skip

SLOW = [
    *(
        Step(f"wasm-{adapter}", "built by em++, run in node", [tool("test_wasm.sh", adapter)], quick=False,
             runner="ctest", skip=why_not(adapter), alone=True, limit_s=2400)
        for adapter in ("swiftshader", "lavapipe")
    ),
    Step("fuzz", "every fuzz target for a short while, under sanitizers", [tool("fuzz.sh", "25")], quick=False,
         alone=True, limit_s=2400),
    Step("tidy", "clang-tidy", [tool("check_tidy.sh", BUILD)], needs=["build"], quick=False, alone=True,
         limit_s=2400),
]  # fmt: skip


def steps(quick: bool) -> list[Step]:
    chosen = [
        *CHECKS,
        *BUILDS,
        PACK_STEP,
        *adapter_steps("swiftshader"),
        *adapter_steps("lavapipe"),
        *PACKAGES,
        *SLOW,
    ]
    return [step for step in chosen if step.quick or not quick]
