"""Bank conflicts of a finished Program in the scratchpad regime: counted, as it runs, on bytes of local memory."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir.local import Command
from codegen.ir.program import Call, LocalProgram
from codegen.prove.arena import rows_read


def bank_conflicts(local: LocalProgram) -> int | None:
    """Kernel calls during which a transfer under way uses a bank of local memory that the call uses too.

    On several cores each in its own memory, all together.  None where the memory is one bank.
    """
    if not local.bank_bytes:
        return None
    found = 0
    for bounds in local.bounds:
        flying: dict[int, set[int]] = {}
        for command in local.commands[bounds[0] : bounds[-1]]:
            if command.act in ("load", "store", "params"):
                flying[command.slot] = set(_banks(local, *_moved(local, command)))
            elif command.act == "wait":
                del flying[command.slot]
            elif command.act in ("run", "again") and flying:
                busy = set().union(*flying.values())
                call = local.calls[command.index]
                rows = range(command.row, command.row + command.count)
                found += sum(not busy.isdisjoint(_used(local, call, row)) for row in rows)
    return found


def _moved(local: LocalProgram, command: Command) -> tuple[int, int]:
    """Where a transfer begins in local memory, and how many bytes it has there."""
    if command.act == "params":
        load = local.params[command.index]
        return load.offset, load.params.bytes
    stream = local.streams[command.index]
    return stream.offset + command.row % stream.ring * stream.row_bytes, command.count * stream.row_bytes


def _used(local: LocalProgram, call: Call, row: int) -> Iterator[int]:
    """Banks that a call of a kernel reads and writes."""
    for item in call.inputs:
        place = item.operand
        inside = rows_read(item.rule, row, place.rows)
        for at in inside:
            yield from _banks(local, place.offset + at % place.ring * place.row_bytes, place.row_bytes)
        if item.padding_offset is not None and len(inside) < item.rule.taps:
            yield from _banks(local, item.padding_offset, place.row_bytes)
    whole = call.fn.run in ("whole", "accumulate")
    for out in call.outputs:
        start = out.offset if whole else out.offset + row % out.ring * out.row_bytes
        yield from _banks(local, start, out.row_bytes * (out.ring if whole else 1))
    if call.params is not None and call.params_offset is not None:
        yield from _banks(local, call.params_offset, call.params.bytes)
    if call.scratch_offset is not None:
        yield from _banks(local, call.scratch_offset, call.scratch_bytes)


def _banks(local: LocalProgram, start: int, size: int) -> range:
    return range(start // local.bank_bytes, -(-(start + size) // local.bank_bytes)) if size else range(0)
