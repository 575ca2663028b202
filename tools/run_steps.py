#!/usr/bin/env python3
"""Runs the steps of test_steps.py, each timed, named and counted: in order, as many at once as there are cores.

The last line is "N passed, N failed" (", N skipped" when there are any): the tests of every test runner, and
one for each step that is not a test runner. Output goes to out-test/logs/STEP.log, and on to the terminal
where a step fails.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import fetch
import test_steps
from test_steps import BUILD, Step

LOGS = BUILD / "logs"
FAILURE_LINES = 80
MOST_AT_ONCE = min(os.cpu_count() or 1, 4)  # each may take some GB of memory


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other: "Count") -> "Count":
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {self.skipped} skipped" if self.skipped else text


def count_gtest(log: str) -> Count:
    def number(word: str) -> int:
        return sum(map(int, re.findall(rf"^\[ +{word} +\] (\d+) tests?[.,]", log, re.MULTILINE)))

    return Count(number("PASSED"), number("FAILED"), number("SKIPPED"))


def count_pytest(log: str) -> Count:
    lines = re.findall(r"^=* ?((?:\d+ \w+(?:, )?)+) in [\d.]+s.*$", log, re.MULTILINE)
    words = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", lines[-1])} if lines else {}
    return Count(
        words.get("passed", 0) + words.get("xfailed", 0),
        words.get("failed", 0) + words.get("error", 0) + words.get("errors", 0) + words.get("xpassed", 0),
        words.get("skipped", 0),
    )


def count_ctest(log: str) -> Count:
    found = re.findall(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)", log, re.MULTILINE)
    failed, total = map(int, found[-1]) if found else (0, 0)
    return Count(total - failed, failed)


def count_pack(log: str) -> Count:
    """Of every `etwebgpu pack` of the step."""
    found = re.findall(r"^(\d+) passed, (\d+) failed$", log, re.MULTILINE)
    return Count(sum(int(passed) for passed, _ in found), sum(int(failed) for _, failed in found))


COUNTERS = {"gtest": count_gtest, "pytest": count_pytest, "ctest": count_ctest, "pack": count_pack}


def count(step: Step, code: int, log: str) -> Count:
    if step.runner is None:
        return Count(passed=1) if code == 0 else Count(failed=1)
    found = COUNTERS[step.runner](log)
    if code != 0 and found.failed == 0:  # it crashed, or never got as far as a test
        found.failed = 1
    if code == 0 and found.passed == 0:  # a runner that ran nothing has shown nothing
        found.failed = max(found.failed, 1)
    return found


@dataclass
class Done:
    code: int
    log: str
    seconds: float


def execute(step: Step) -> Done:
    log_path, code, start = LOGS / f"{step.name}.log", 0, time.monotonic()
    with log_path.open("w") as log:
        for command in step.commands:
            log.write(f"+ {' '.join(map(str, command))}\n")
            log.flush()
            environment = {**os.environ, **step.environment}
            try:
                code = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=log,
                                      stderr=subprocess.STDOUT, cwd=fetch.REPO, env=environment,
                                      timeout=step.limit_s, check=False).returncode  # fmt: skip
            except subprocess.TimeoutExpired:
                log.write(f"ran past its limit of {step.limit_s} s\n")
                code = 124
            except OSError as error:
                log.write(f"{error}\n")
                code = 127
            if code:
                break
    return Done(code, log_path.read_text(errors="replace"), time.monotonic() - start)


class Runner:
    """Starts steps and adds up what became of them."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool = pool
        self.running: dict[Future[Done], Step] = {}
        self.total = Count()
        self.bad: list[str] = []

    def may_start(self, step: Step) -> bool:
        others = self.running.values()
        if step.alone or any(other.alone for other in others):
            return not others
        clash = any(other.name in step.needs or (other.folder and other.folder == step.folder) for other in others)
        return len(others) < MOST_AT_ONCE and not clash

    def start(self, step: Step) -> None:
        while not self.may_start(step):
            self.wait_for_one()
        broken = [name for name in step.needs if name in self.bad]
        if broken:
            print(f"FAIL  {step.name:24} not run: {', '.join(broken)} failed", flush=True)
            self.total += Count(failed=1)
            self.bad.append(step.name)
        elif step.skip:
            print(f"skip  {step.name:24} {step.skip}", flush=True)
            self.total += Count(skipped=1)
        else:
            print(f"      {step.name:24} {step.text} ...", flush=True)
            self.running[self.pool.submit(execute, step)] = step

    def wait_for_one(self) -> None:
        for future in wait(self.running, return_when=FIRST_COMPLETED).done:
            self.report(self.running.pop(future), future.result())

    def report(self, step: Step, done: Done) -> None:
        result = count(step, done.code, done.log)
        self.total += result
        failed = bool(done.code or result.failed)
        print(f"{'FAIL' if failed else 'ok':6}{step.name:24} {done.seconds:7.1f} s"
              f"{f'  {result}' if step.runner else ''}", flush=True)  # fmt: skip
        if failed:
            self.bad.append(step.name)
            print("\n".join(done.log.splitlines()[-FAILURE_LINES:]), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bash tools/test.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the slow steps")
    parser.add_argument("--only", nargs="+", metavar="STEP", help="these steps alone")
    parser.add_argument("--list", action="store_true", help="name the steps")
    arguments = parser.parse_args()
    steps = test_steps.steps(arguments.quick)
    names = [step.name for step in steps]
    if arguments.list:
        for step in steps:
            print(f"{step.name:24}{'' if step.quick else 'full  ':8}{step.text}")
        return 0
    for name in arguments.only or []:
        if name not in names:
            parser.error(f"no step named {name}; there are: {' '.join(names)}")

    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        runner = Runner(pool)
        for step in steps:
            if not arguments.only or step.name in arguments.only:
                runner.start(step)
        while runner.running:
            runner.wait_for_one()
    print(f"\n{time.monotonic() - begin:.0f} s; logs in {LOGS.relative_to(fetch.REPO)}/")
    if runner.bad:
        print("failed:", *runner.bad)
    total = runner.total
    print(total, flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
