"""Replication of autorun kernels by ``num_compute_units``; each restarts when it ends."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import prod

from ...diag import Code, CompileError
from ...ir import Attr, Builder, Function, Module, Op, Value
from ...ir.clone import clone_function
from ...ir.launch import compute_units
from ...ir.rewrite import rewrite
from ...limits import Limits, exceeded
from ..lowering.inline import Inline
from ..manager import Form, ModulePass
from .autorun import never_ends, repeat_for_ever

__all__ = ["ReplicateAutorun"]


@dataclass(frozen=True)
class ReplicateAutorun(ModulePass):
    """Compute-unit replication of autorun kernels. Before: pipes are channels. After: an autorun kernel has as many
    copies as its ``num_compute_units`` says, each with constant compute ids, named NAME_X, NAME_X_Y or NAME_X_Y_Z; a
    single work-item autorun kernel restarts when it ends.

    Raises CompileError where a copy would have the name of another kernel.
    """

    max_ops: int = Limits.operations
    max_units: int = Limits.units
    max_copies: int = Limits.copies

    name = "replicate-autorun"
    provides = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The program with all copies. Raises CompileError for more than the limits allow."""
        _check_copies(module, self.max_units, self.max_copies)
        if not any(f.attrs.get(Attr.AUTORUN) for f in module.kernels):
            return module
        module = Inline(self.max_ops).run(module)  # a helper may query the compute id
        functions: dict[str, Function] = {}
        for function in module.functions.values():
            for copy in _copies(function) if function.attrs.get(Attr.AUTORUN) else [function]:
                if copy.name in functions or (copy.name in module.functions and copy.name != function.name):
                    raise CompileError.at(
                        function.span,
                        f"a copy of kernel {function.name} would have the name of kernel {copy.name}",
                        "rename one of them",
                        code=Code.DEFINED_TWICE,
                    )
                functions[copy.name] = copy
        return Module(functions, module.sources, module.channels)


def _check_copies(module: Module, max_units: int, max_copies: int) -> None:
    """Raise CompileError for kernels with too many copies or compute units."""
    copies = 0
    for function in module.kernels:
        asked, autorun = prod(compute_units(function)), function.attrs.get(Attr.AUTORUN)
        copies += asked if autorun else 1
        most, name = (max_copies, "copies") if autorun else (max_units, "units")
        if asked > most:
            raise CompileError.at(
                function.span,
                f"num_compute_units asks for {asked:,} {'copies' if autorun else 'compute units'} of kernel "
                f"{function.name}; "
                f"the limit is {most:,}",
                f"a device holds some tens; {exceeded(name)}",
                code=Code.BUDGET,
            )
        if copies > max_copies:
            raise CompileError.at(
                function.span,
                f"with kernel {function.name} and its copies the program has {copies:,} kernels; the limit is "
                f"{max_copies:,}",
                exceeded("copies"),
                code=Code.BUDGET,
            )


def _copies(function: Function) -> Iterable[Function]:
    units = compute_units(function)
    # a body that never ends whatever the compute ids are: found once, not for each copy
    ends = not function.attrs.get(Attr.NDRANGE) and not never_ends(function)
    for place in itertools.product(*map(range, units)):
        copy = clone_function(function)
        if units != (1,) * len(units):
            copy.name = "_".join([function.name, *map(str, place)])
        rewrite(copy.body, partial(_place, place))
        if ends:
            repeat_for_ever(copy)
        yield copy


def _place(place: tuple[int, ...], op: Op, b: Builder) -> list[Value] | None:
    if op.opcode != "work_item" or op.attrs[Attr.FN] != "compute_id":
        return None
    return [b.const((*place, 0, 0)[op.attrs.get(Attr.DIM, 0)], op.result.type)]
