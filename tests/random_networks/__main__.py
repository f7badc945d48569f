"""The long proof from the command line; exit code 1 when a network is wrong or too little was covered."""

from __future__ import annotations

import argparse
import sys
import time

from codegen.spread import spread_over
from tests.random_networks.cases import HOST
from tests.random_networks.proof import Proving, prove_each, seeds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_networks", description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the one network that a fault names")
    parser.add_argument("--plan-only", action="store_true", help="up to the shadow run, without C")
    parser.add_argument("--flags", default="-O1", help="of the compiler")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    parser.add_argument("--target", default=HOST, help="whose kernels, in plain C where they are assembly there")
    parser.add_argument("--scheduler", help="who shares the work, as of `lamina eval`")
    given = parser.parse_args()
    numbers = seeds(given.seed, given.count) if given.only is None else range(given.only, given.only + 1)
    began = time.monotonic()
    how = Proving(tuple(given.flags.split()), given.jobs, given.plan_only, given.target)
    with spread_over(given.scheduler) as spread:
        proof = prove_each(numbers, how, spread, lambda line: print(line, file=sys.stderr, flush=True))
    print(proof.coverage.table())
    missing = proof.coverage.missing() if given.only is None else []
    print("".join(f"too little: {what}\n" for what in missing), end="")
    print("".join(f"{fault.case}: {fault.what}\n" for fault in proof.faults), end="")
    print(f"{proof.coverage.networks} networks, {len(proof.faults)} faults, {time.monotonic() - began:.0f} s")
    return int(bool(proof.faults or missing))


if __name__ == "__main__":
    sys.exit(main())
