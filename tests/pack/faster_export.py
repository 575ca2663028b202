# SPDX-License-Identifier: BSD-3-Clause
"""Makes exporting a thousand small programs in one process bearable.

Nine tenths of a small export is work whose result is the same each time. Importing this module
keeps those results. It reaches into PyTorch and ExecuTorch, so it is for this pack only. What is
exported does not change.
"""

from __future__ import annotations

import functools

import torch
import torch._export.utils
from executorch.backends.vulkan.patterns.pattern_registry import fusable_patterns


def _remember_fusable_patterns() -> None:
    """Vulkan's lowering exports its RoPE patterns anew for each program."""
    for entry in fusable_patterns.values():
        if entry.get_graphs_fn is not None:
            entry.get_graphs_fn = functools.cache(entry.get_graphs_fn)


def _remember_composite_operators() -> None:
    """Each decomposition asks the dispatcher for every operator there is; none are added here."""
    torch._export.utils._materialize_cpp_cia_ops = functools.cache(
        torch._export.utils._materialize_cpp_cia_ops
    )


def _register_kernels_quickly() -> None:
    """Each decomposition registers some 12,000 Python kernels and takes them away again; most of
    that time goes into evaluating the annotations of the inner function of py_impl."""
    operator = torch._ops.OperatorBase
    general = operator.py_impl

    def py_impl(self, key):  # no annotations: see above
        if type(key) is not torch._C.DispatchKey or key == torch._C.DispatchKey.Python:
            return general(self, key)

        def register(fn):
            if key in self.py_kernels:
                raise RuntimeError(f"{self.name()} already has a kernel for {key}")
            self.py_kernels[key] = fn
            self._dispatch_cache.clear()
            return fn

        return register

    operator.py_impl = py_impl


def enable() -> None:
    _remember_fusable_patterns()
    _remember_composite_operators()
    _register_kernels_quickly()


