"""Synthesis and place-and-route on an ECP5 of the hardware of work-groups: the parts alone, and kernels with lanes and
units.

Run as ``python -m tests.boards.pnr_groups [NAME ...]`` from the project's root. A part takes half a minute and more, a
kernel some minutes. Kernels have every buffer in block RAM of its own, on the board ``ecp5_onchip``.
"""

from rtl_lib.barrier import GroupMeeting
from rtl_lib.dispatch import GroupDispatcher

from .onchip import build
from .pnr import DEVICES, Figures, measure
from .pnr_alone import DEVICE, print_table

BYTES = 4096  #: of each buffer
ITEMS = 64  #: of a group

SCALE = """__attribute__(({attributes})) __kernel void scale(__global const int *restrict in, __global int *restrict out, int factor) {{
    int i = get_global_id(0);
    out[i] = in[i] * factor + i;
}}"""
REVERSE = """__attribute__(({attributes})) __kernel void reverse(__global const int *restrict in, __global int *restrict out, int factor) {{
    __local int tile[64];
    int i = get_global_id(0), l = get_local_id(0);
    tile[l] = in[i] * factor;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - l];
}}"""
REQUIRED = f"reqd_work_group_size({ITEMS}, 1, 1)"

#: name -> what makes the part
PARTS = {
    "dispatcher, 2 units": lambda: GroupDispatcher(1, 2),
    "dispatcher, 2 units, 2 dimensions": lambda: GroupDispatcher(2, 2),
    "dispatcher, 8 units": lambda: GroupDispatcher(1, 8),
    "barrier": lambda: GroupMeeting(ITEMS, 4 * ITEMS, False),
    "barrier with a fence": lambda: GroupMeeting(ITEMS, 4 * ITEMS, True),
}
#: name -> source of one kernel
KERNELS = {
    "kernel": SCALE.format(attributes=REQUIRED),
    "kernel, 4 lanes": SCALE.format(attributes=f"{REQUIRED}, num_simd_work_items(4)"),
    "kernel, 2 units": SCALE.format(attributes=f"{REQUIRED}, num_compute_units(2)"),
    "kernel with a barrier": REVERSE.format(attributes=REQUIRED),
    "kernel with a barrier, 4 lanes": REVERSE.format(attributes=f"{REQUIRED}, num_simd_work_items(4)"),
    "kernel with a barrier, 2 units": REVERSE.format(attributes=f"{REQUIRED}, num_compute_units(2)"),
}


def _measured(source: str) -> Figures:
    result = build(source, control="wires")
    return measure(result, {port.buffer: BYTES for port in result.interface.ram}, DEVICES[DEVICE])


if __name__ == "__main__":
    print_table(
        __doc__.splitlines()[0],
        PARTS,
        {name: lambda source=source: _measured(source) for name, source in KERNELS.items()},
    )
