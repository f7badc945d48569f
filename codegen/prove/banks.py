"""Bank conflicts of a finished Program in the scratchpad regime: counted, as it runs, on bytes of scratchpad."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir.program import Call, ScratchpadProgram
from codegen.ir.scratchpad import Command
from codegen.prove.arena import rows_read


def bank_conflicts(scratchpad: ScratchpadProgram) -> int | None:
    """Kernel calls during which a transfer under way uses a bank of scratchpad that the call uses too.

    On several cores each in its own memory, all together.  None where the memory is one bank.
    """
    if not scratchpad.bank_bytes:
        return None
    found = 0
    for bounds in scratchpad.bounds:
        flying: dict[int, set[int]] = {}
        for command in scratchpad.commands[bounds[0] : bounds[-1]]:
            if command.act in ("load", "store", "params"):
                flying[command.slot] = set(_banks(scratchpad, *_moved(scratchpad, command)))
            elif command.act == "wait":
                del flying[command.slot]
            elif command.act in ("run", "again") and flying:
                busy = set().union(*flying.values())
                call = scratchpad.calls[command.index]
                rows = range(command.row, command.row + command.count)
                found += sum(not busy.isdisjoint(_used(scratchpad, call, row)) for row in rows)
    return found


def _moved(scratchpad: ScratchpadProgram, command: Command) -> tuple[int, int]:
    """Where a transfer begins in the scratchpad, and how many bytes it has there."""
    if command.act == "params":
        load = scratchpad.params[command.index]
        return load.offset, load.params.bytes
    stream = scratchpad.streams[command.index]
    return stream.offset + command.row % stream.ring * stream.row_bytes, command.count * stream.row_bytes


def _used(scratchpad: ScratchpadProgram, call: Call, row: int) -> Iterator[int]:
    """Banks that a call of a kernel reads and writes."""
    for item in call.inputs:
        place = item.operand
        inside = rows_read(item.rule, row, place.rows)
        for at in inside:
            yield from _banks(scratchpad, place.offset + at % place.ring * place.row_bytes, place.row_bytes)
        if item.padding_offset is not None and len(inside) < item.rule.taps:
            yield from _banks(scratchpad, item.padding_offset, place.row_bytes)
    whole = call.fn.run in ("whole", "accumulate")
    for out in call.outputs:
        start = out.offset if whole else out.offset + row % out.ring * out.row_bytes
        yield from _banks(scratchpad, start, out.row_bytes * (out.ring if whole else 1))
    if call.params is not None and call.params_offset is not None:
        yield from _banks(scratchpad, call.params_offset, call.params.bytes)
    if call.scratch_offset is not None:
        yield from _banks(scratchpad, call.scratch_offset, call.scratch_bytes)


def _banks(scratchpad: ScratchpadProgram, start: int, size: int) -> range:
    return range(start // scratchpad.bank_bytes, -(-(start + size) // scratchpad.bank_bytes)) if size else range(0)
