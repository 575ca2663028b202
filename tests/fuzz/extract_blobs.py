#!/usr/bin/env python3
"""Takes the delegate blobs out of .pte files, without the constants: seeds that are small enough to fuzz.

python tests/fuzz/extract_blobs.py OUTPUT_FOLDER FOLDER_WITH_PTE_FILES...
"""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

HEADER = struct.Struct("<4x4sHIII")  # magic, header length, FlatBuffer's offset and size, raw region's offset
LARGEST = 1 << 16  # larger ones would slow the fuzzer down


def blobs(data: bytes) -> Iterator[bytes]:
    at = data.find(b"\0\0\0\0VH00")
    while at >= 0:
        _, _, _, _, raw_offset = HEADER.unpack_from(data, at)
        yield data[at : at + raw_offset]
        at = data.find(b"\0\0\0\0VH00", at + 8)


def main() -> int:
    output, *folders = map(Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    count = 0
    for folder in folders:
        for path in sorted(folder.rglob("*.pte")):
            for blob in blobs(path.read_bytes()):
                if len(blob) <= LARGEST:
                    (output / hashlib.sha256(blob).hexdigest()[:16]).write_bytes(blob)
                    count += 1
    print(f"{count} blobs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
