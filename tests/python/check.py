# SPDX-License-Identifier: BSD-3-Clause
"""Lowering a module in one call, and the pack's rule of what counts as equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower


def lower(module: torch.nn.Module, inputs: tuple[Any, ...], partitioner: Any, dynamic: Any = None) -> Any:
    with torch.no_grad():
        program = torch.export.export(module.eval(), inputs, dynamic_shapes=dynamic)
        return to_edge_transform_and_lower(
            program,
            partitioner=[partitioner],
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )


def delegate_ids(lowered: Any) -> list[str]:
    plan = lowered.to_executorch().executorch_program.execution_plan[0]
    return [delegate.id for delegate in plan.delegates]


def method_of(lowered: Any) -> Any:
    from executorch.runtime import Runtime

    buffer = lowered.to_executorch().buffer
    program = Runtime.get().load_program(buffer)
    method = program.load_method("forward")
    method.kept = (program, buffer)  # the runtime reads from the bytes and does not copy them
    return method


def assert_equal(got: np.ndarray, want: np.ndarray, atol: float, rtol: float) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want)
        return
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
