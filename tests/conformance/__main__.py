"""``python -m tests.conformance CHECKOUT``: build and run Khronos' tests on the emulator, and print or record the outcomes."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from sim.errors import BuildError, ToolMissing
from sim.icd.build import build_driver

from .suite import PROGRAMS, Result, build, run, sub_tests
from .table import outcomes, table, unexplained, write


def main() -> int:
    """The command; returns 1 if a test fails for which reasons.toml names no reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of KhronosGroup/OpenCL-CTS")
    parser.add_argument("--headers", type=Path, help="a checkout of OpenCL-Headers of the same date  [the system's]")
    parser.add_argument("--spirv", type=Path, required=True, help="a checkout of SPIRV-Headers")
    parser.add_argument("--build", type=Path, default=Path("out/conformance"), help="where to build")
    parser.add_argument("--only", nargs="*", choices=PROGRAMS, metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--tests", nargs="*", default=[], metavar="NAME", help="sub-tests  [all]")
    parser.add_argument("--limit", type=float, default=60, help="seconds of a sub-test  [60]")
    parser.add_argument("--again", action="store_true", help="run only what has not passed before")
    parser.add_argument("--no-build", action="store_true", help="run what was built before")
    parser.add_argument("--record", action="store_true", help="write results.toml and docs/conformance.md")
    request = parser.parse_args()
    programs = request.only or list(PROGRAMS)
    folder = request.build.resolve()
    try:
        vendor = build_driver()
        if not request.no_build:
            build(request.checkout.resolve(), request.headers, request.spirv.resolve(), folder, programs)
    except (BuildError, ToolMissing, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    environment = {
        "OCL_ICD_VENDORS": str(vendor),
        "CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA": os.environ.get("CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA", "1"),
    }
    kept = folder / "results.json"
    known: dict[str, list] = json.loads(kept.read_text()) if kept.exists() and request.again else {}
    for program in programs:
        names = [name for name in sub_tests(folder, program) if not request.tests or name in request.tests]
        if request.again:
            names = [name for name in names if known.get(f"{program}/{name}", [""])[0] not in ("passed", "skipped")]
        for result in run(folder, program, names, environment, request.limit):
            print(f"{result.outcome:8} {result.seconds:6.1f} s  {program}/{result.name}", flush=True)
            log = folder / "logs" / program / f"{result.name}.txt"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(result.said)
            known[f"{program}/{result.name}"] = [result.outcome, round(result.seconds, 1)]
            kept.write_text(json.dumps(known))
    found = outcomes(Result(*name.split("/"), outcome, seconds, "") for name, (outcome, seconds) in known.items())
    print(table(found))
    if request.record:
        write(found)
    return 1 if unexplained(found) else 0


if __name__ == "__main__":
    sys.exit(main())
