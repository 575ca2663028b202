"""Runs in an environment that holds the wheel: the plug-in must come from there, and run a model.

use_wheel.py EXAMPLE, where EXAMPLE is the path of examples/add_one.py.
"""

import runpy
import sys
from pathlib import Path

import torch

import executorch_webgpu

environment = Path(sys.prefix).resolve()
for path in (executorch_webgpu.__file__, executorch_webgpu.library_path()):
    assert Path(path).resolve().is_relative_to(environment), f"{path} is not in {environment}"

ids = executorch_webgpu.backend_ids()
assert "WebGPUBackend" in ids, ids
devices = executorch_webgpu.devices()
assert devices, "no device"
print("devices:", ", ".join(device["name"] for device in devices))

# The program that the README starts with, as a user would run it.
names = runpy.run_path(sys.argv[1])
output = names["method"].execute([names["x"]])[0]
torch.testing.assert_close(output, names["x"] + 1.0, rtol=0, atol=0)
print("x + 1 is right")
