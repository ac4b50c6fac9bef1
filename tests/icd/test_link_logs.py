"""The logs of clCompileProgram and clLinkProgram: every warning once, at its place in the host's own texts."""

import pytest

from sim import cl
from sim.icd.objects import Context, Program

HEADER = "int twice(int);\n#warning from a header\n"
HELPER = '#include "lib/h.h"\nint twice(int x) {\n  int spare = 3;\n  return 2 * x;\n}\n'
KERNEL = '#include "lib/h.h"\n#pragma nonsense\n__kernel void k(__global int *a) { a[0] = twice(a[1]); }\n'
OWN, SPARE, PRAGMA = "lib/h.h:2:2: warning[W0105]", ":3:7: warning[W0220]", ":2:1: warning[W0304]"


@pytest.fixture(scope="module")
def context() -> Context:
    return Context([cl.Device(cl.get_platforms()[0].get_devices()[0].board, "emulator")])


def compiled(context: Context, text: str, options: str = "") -> Program:
    part = Program(context, text)
    part.compile(0, options, {"lib/h.h": HEADER})
    return part


def test_a_part_that_needs_others_has_its_warnings(context):
    """It has no kernel, or calls what is defined elsewhere: that is no error of a part, and hides no warning."""
    helper, kernel = compiled(context, HELPER), compiled(context, KERNEL)
    assert OWN in helper.built[0].log and f"<program source>{SPARE}" in helper.built[0].log
    assert OWN in kernel.built[0].log and f"<program source>{PRAGMA}" in kernel.built[0].log
    assert compiled(context, KERNEL, "-w").built[0].log == ""
    strict = compiled(context, HELPER, "-Werror").built[0]
    assert strict.code == cl.status_code.BUILD_PROGRAM_FAILURE and "[-Werror]" in strict.log


def test_the_whole_has_the_warnings_of_its_parts_once(context):
    parts = [compiled(context, KERNEL), compiled(context, HELPER)]
    library, whole, silent = Program(context), Program(context), Program(context)
    log = library.link(0, "-create-library", parts[1:]).log
    assert f"<program source 1>{SPARE}" in log and OWN in log
    built = whole.link(0, "", [parts[0], library])
    assert built.code == 0 and [built.log.count(one) for one in (OWN, SPARE, PRAGMA)] == [1, 1, 1]
    # the library's part keeps its number, and the line is that of the part
    assert f"<program source 1>{SPARE}" in built.log and f"<program source 2>{PRAGMA}" in built.log
    assert "\n    #pragma nonsense\n" in built.log
    assert silent.link(0, "-w", parts).log == ""
