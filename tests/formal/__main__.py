"""``python -m tests.formal [--broken] [NAME ...]``: run proofs, all by default, and print the results."""

import argparse
import sys

from tests.formal.broken import BREAKS
from tests.formal.proofs import PROOFS, prove


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.formal", description=__doc__.partition(": ")[2])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROOFS)}")
    parser.add_argument("--broken", action="store_true", help="try them on broken parts, which they must notice")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(PROOFS):
        parser.error(f"no proof is called {', '.join(sorted(unknown))}")
    names = chosen.names or list(PROOFS)
    wrong = _broken(names) if chosen.broken else _proofs(names)
    return 1 if wrong else 0


def _proofs(names: list[str]) -> int:
    wrong = 0
    for name in names:
        proof, verdict = PROOFS[name], prove(PROOFS[name])
        far = f"{proof.depth} cycles" + (f", induction over {proof.steps}" if proof.steps else "")
        print(f"{name:18} {proof.part:45} {far:28} {'holds' if verdict.holds else 'FAILS'}", flush=True)
        for failure, kind in ((verdict.bounded, "in cycle"), (verdict.inductive, "not inductive, in cycle")):
            if failure:
                print(f"    {kind} {failure.cycle}: {'; '.join(failure.checks)}")
                print(*(f"      {cycle}: {' '.join(inputs)}" for cycle, inputs in enumerate(failure.inputs)), sep="\n")
        for what in verdict.unreached:
            print(f"    never: {what}")
        wrong += not verdict.holds
    return wrong


def _broken(names: list[str]) -> int:
    missed = 0
    for each in BREAKS:
        if each.proof in names:
            with each.done():
                failure = prove(PROOFS[each.proof]).bounded
            print(
                f"{each.proof:18} {each.part.__name__}.{each.method}: {' '.join(each.instead.split()):40} "
                f"{f'noticed in cycle {failure.cycle}: {failure.checks[0]}' if failure else 'MISSED'}",
                flush=True,
            )
            missed += failure is None
    return missed


if __name__ == "__main__":
    sys.exit(main())
