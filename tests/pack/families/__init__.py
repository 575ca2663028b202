# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the export pack, one module a family; each has `cases()` that yields Case objects."""
