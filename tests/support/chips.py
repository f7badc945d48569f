"""Which of the shipped chips a test looks at: many of them differ by their memories alone."""

from __future__ import annotations

from codegen.target import Target, list_targets, load_target

CHIPS: dict[str, Target] = {name: load_target(name) for name in list_targets()}
REFERENCE = tuple(name for name, chip in CHIPS.items() if not chip.maker)
"""Those that no maker sells: one of each core that is common, this machine, and what scratchpads are tried on."""
BOUGHT = tuple(name for name, chip in CHIPS.items() if chip.maker)


def _one_of_each_core() -> tuple[str, ...]:
    """Of the chips that are built alike and run on one board the reference, or that of fewest rules and most RAM."""

    def rank(item: tuple[str, Target]) -> tuple[bool, int, int]:
        chip = item[1]
        return chip.maker != "", len(chip.accelerator.rules) if chip.accelerator else 0, -(chip.ram_bytes or 1 << 40)

    found: dict[object, str] = {}
    for name, chip in sorted(CHIPS.items(), key=rank):
        if chip.board and chip.toolchain:
            found.setdefault((chip.toolchain.cc, chip.toolchain.cflags, chip.board.emulator), name)
    return tuple(sorted(found.values()))


ONE_OF_EACH_CORE = _one_of_each_core()
BOARDS = (*(name for name in REFERENCE if CHIPS[name].board), "esp8266")
"""One chip of each board that brings files of its own; no reference has an Xtensa core that a board emulates."""
