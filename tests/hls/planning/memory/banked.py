"""Plans kernels that fill and read one memory on the chip."""

from hls import Options, load_board
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.passes.run_stages import link_program
from hls.report.collect import collect_kernel

TASK = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {{
  int t[{words}] {attributes};
  for (int i = 0; i < n; i++) {{ {store} }}
  for (int i = 0; i < n; i++) {{ {load} }}
}}
"""


def plan(attributes="", words=512, store="t[i & 511] = a[i];", load="out[i] = t[(i * 5) & 511];", board="de5net"):
    """The kernel's plan, the messages and the report of TASK: attributes of the memory, its words, and both accesses."""
    text = TASK.format(
        words=words, attributes=f"__attribute__(({attributes}))" if attributes else "", store=store, load=load
    )
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), told = plan_module(module, load_board(board) if isinstance(board, str) else board, Options())
    return kernel, [message.message for message in told], collect_kernel(kernel, module, 100)
