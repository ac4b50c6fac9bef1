"""RTL functions in a compilation: which helpers they are, and the Verilog files of those that are used."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from .diag import Code, CompileError
from .ir import Attr, Module, Op, fixed_operands, walk
from .ir.model_function import RTL
from .options import Options
from .planning import CompiledKernel
from .rtl_library import RtlFunction, port_widths

__all__ = ["mark_rtl_functions", "with_rtl_files"]


def mark_rtl_functions(module: Module, libraries: Iterable[RtlFunction]) -> None:
    """Note on each function of a module that is an RTL function which Verilog module computes it. Raises CompileError
    for a function whose model does not define it."""
    for one in libraries:
        function = module.functions.get(one.name)
        if function is None or function.kind == "kernel":
            raise CompileError.at(
                None,
                f"the model {one.model} of RTL function {one.name} does not define a function of this name",
                "name the file that defines it in the description: model",
                code=Code.RTL_LIBRARY,
            )
        function.attrs |= {Attr.RTL_MODULE: one.module, Attr.RTL_LATENCY: one.latency, Attr.RTL_PORTS: one.ports}
        if one.stallable:
            function.attrs[Attr.RTL_WAITS] = one.capacity or one.latency


def with_rtl_files(verilog: Mapping[str, str], kernels: Iterable[CompiledKernel], options: Options) -> dict[str, str]:
    """The texts of a design by file name, with the files of the RTL functions that its kernels use. Raises CompileError
    for a port of another width than its operand, for a file or module with the name of one of the design's, and for a
    module without enable in levels that stall."""
    from .verilog import module_names_in  # as in `hls.driver`: not for a plan

    calls = [op for kernel in kernels for op in walk(kernel.function.body) if op.opcode in RTL]
    found, modules = dict(verilog), {name for text in verilog.values() for name in module_names_in(text)}
    ours: dict[Path, str] = {}
    for op in calls:
        one = next(one for one in options.libraries if _computes(one, op))
        _check_call(op, one, options)
        ours |= {file: file.read_text(encoding="utf-8") for file in one.files}
    for file, text in ours.items():
        taken = sorted({*module_names_in(text)} & modules) or ([file.name] if file.name in found else [])
        if taken:
            raise CompileError.at(
                None,
                f"the design has {taken[0]} as well as the RTL library does: it is in {file}",
                "rename it in the library",
                code=Code.RTL_LIBRARY,
            )
        found[file.name] = text
        modules |= {*module_names_in(text)}
    return found


def _computes(one: RtlFunction, op: Op) -> bool:
    return (one.module, one.ports) == (op.attrs[Attr.RTL_MODULE], op.attrs[Attr.RTL_PORTS])


def _check_call(op: Op, one: RtlFunction, options: Options) -> None:
    widths = port_widths(one) or {}
    for port, value in zip((one.output, *one.inputs), (op.result, *op.operands[: fixed_operands(op)]), strict=True):
        bits = widths[port][1]
        if bits is not None and bits != value.type.bits:
            raise CompileError.at(
                op.span,
                f"port {port} of module {one.module} has {bits} bits, but {one.name} passes {value.type.bits}",
                "use a type with the bits of the port, in the prototype and the model",
                code=Code.RTL_LIBRARY,
            )
    if options.elastic_depth and not one.enable and one.latency and not one.stallable:
        raise CompileError.at(
            op.span,
            f"module {one.module} has no clock enable, and the pipeline is to stall",
            "name the port of one in the description: enable",
            code=Code.RTL_LIBRARY,
        )
