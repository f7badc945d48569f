"""The weight blob: header and sections, for one target.  Twin of runtime_c/include/lam_blob.h.

Header, 64 bytes, numbers of several bytes little-endian in every blob:

     0  `LAMW`
     4  version of this format, 2
     5  byte order of the sections: 1 little, 2 big
     6  two zero bytes
     8  instruction-set level, 16 bytes, zero padded
    24  structure, 12 bytes: begin of a SHA-256 over all that the code assumes of the blob
    36  interface, 4 bytes: begin of a SHA-256 over types, shapes, scales and zero points of inputs and outputs
    40  size of header and sections
    44  CRC-32 of the sections
    48  weights id, 8 bytes: begin of the SHA-256 of the sections
    56  four zero bytes
    60  CRC-32 of the header's bytes before it

Then each layer's parameters at 16-byte boundaries, in the target's byte order.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import Literal

from codegen.ir.program import Program
from codegen.records import record

BLOB_HEADER_BYTES = 64
BLOB_VERSION = 2
_STRUCTURE_AT, _ID_AT = 24, 48


@record
class Fit:
    """What a blob and code must agree on, as the blob's header has it: 12 bytes and 4."""

    structure: bytes
    interface: bytes

    @property
    def structure_bytes(self) -> str:
        """Spelled for an initialiser in C."""
        return ", ".join(f"0x{byte:02x}" for byte in self.structure)

    @property
    def interface_bytes(self) -> str:
        """Spelled for an initialiser in C."""
        return ", ".join(f"0x{byte:02x}" for byte in self.interface)


def weight_blob(program: Program, fit: Fit, *, isa: str, byte_order: str) -> bytes:
    """The file weights.bin."""
    body = weight_sections(program, byte_order)
    fields = struct.pack(
        "<4sBBxx16s12s4sII8sxxxx",
        b"LAMW",
        BLOB_VERSION,
        1 if byte_order == "little" else 2,
        isa.encode("ascii")[:16],
        fit.structure,
        fit.interface,
        BLOB_HEADER_BYTES + len(body),
        zlib.crc32(body),
        hashlib.sha256(body).digest()[:8],
    )
    return fields + struct.pack("<I", zlib.crc32(fields)) + body


def blob_ids(blob: bytes) -> tuple[str, str]:
    """Structure, with the interface behind it, and weights id of a blob, in hexadecimal digits."""
    return blob[_STRUCTURE_AT : _STRUCTURE_AT + 16].hex(), blob[_ID_AT : _ID_AT + 8].hex()


def weight_sections(program: Program, byte_order: str) -> bytes:
    """All layers' parameters, as they lie behind the header."""
    order: Literal["<", ">"] = "<" if byte_order == "little" else ">"
    body = bytearray(program.params_bytes)
    for params in program.params:
        for field in params.fields:
            start = params.offset + params.offsets[field.name]
            data = field.values.astype(field.values.dtype.newbyteorder(order)).tobytes()
            body[start : start + len(data)] = data
    return bytes(body)
