"""The weight blob: header and sections, for one target.  Twin of runtime_c/include/lam_blob.h.

Header, 64 bytes: magic `LAMW`, version, byte order (1 little, 2 big), two zero bytes, instruction-set level (16
bytes, zero padded), first 16 bytes of the model's SHA-256, total size and CRC-32 of what follows the header (both
little-endian in every blob), zeros.  Then each layer's parameters at 16-byte boundaries, in the target's byte order.
"""

from __future__ import annotations

import struct
import zlib
from typing import Literal

from codegen.ir.program import Program

BLOB_HEADER_BYTES = 64
BLOB_VERSION = 1


def weight_blob(program: Program, *, isa: str, byte_order: str, model_hash: bytes) -> bytes:
    """The file weights.bin."""
    body = bytearray(program.params_bytes)
    order: Literal["<", ">"] = "<" if byte_order == "little" else ">"
    for params in program.params:
        for field in params.fields:
            start = params.offset + params.offsets[field.name]
            data = field.values.astype(field.values.dtype.newbyteorder(order)).tobytes()
            body[start : start + len(data)] = data
    header = struct.pack(
        "<4sBBxx16s16sII",
        b"LAMW",
        BLOB_VERSION,
        1 if byte_order == "little" else 2,
        isa.encode("ascii")[:16],
        model_hash[:16],
        BLOB_HEADER_BYTES + len(body),
        zlib.crc32(body),
    )
    return header.ljust(BLOB_HEADER_BYTES, b"\0") + bytes(body)
