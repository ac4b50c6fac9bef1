"""Calls: helper functions, built-in functions, work-item functions, conversions; and functions that are rejected."""

from collections.abc import Callable

from ..diag import Code, CompileError
from . import tree as tt
from . import types as ct
from .builtins import BUILTINS, NOT_BUILT, WORK_ITEM
from .builtins_vector import VECTOR_BUILTINS
from .check_channels import CHANNEL_CALLS, ChannelCallChecker
from .check_group import GROUP_CALLS
from .foreign_words import foreign_function, foreign_hint

__all__ = ["CallChecker"]

#: what a misspelt function may be
_CALLED = (*BUILTINS, *VECTOR_BUILTINS, *WORK_ITEM, *GROUP_CALLS, *CHANNEL_CALLS)
#: result of the query for a dimension that does not exist
_ABSENT_DIMENSION = {"global_size": 1, "local_size": 1, "num_groups": 1}


class CallChecker(ChannelCallChecker):
    """Adds calls to the expression checker. ``called`` is defined by the checker of whole programs."""

    def _expr_funccall(self, node):
        span = self.span(node)
        name = getattr(node.name, "name", None)
        if not isinstance(name, str):
            raise CompileError.at(
                span, "function pointers are not supported", "call the function by its name", code=Code.FUNCTION_POINTER
            )
        name = str(name)
        nodes = node.args.exprs if node.args else []
        meaning = self.find(name, self.span(node.name))
        if isinstance(meaning, tt.FunctionTree):
            return self._call_helper(meaning, nodes, span)
        if meaning is not None:
            raise CompileError.at(span, f"'{name}' is not a function", code=Code.UNKNOWN_FUNCTION)
        if name in WORK_ITEM:
            return self._work_item(name, nodes, span)
        if name in BUILTINS and not name.startswith("as_") or name in VECTOR_BUILTINS:
            return self.call_builtin(name, nodes, span)
        if name in NOT_BUILT:
            raise CompileError.at(span, *NOT_BUILT[name], code=Code.NOT_OPENCL)
        if name == "__fpga_reg":  # a register for one vendor's tools: the value is unchanged
            self.count(name, nodes, 1, span)
            return self.rvalue(nodes[0])
        found = (
            self.conversion(name, nodes, span)
            or self.vector_access(name, nodes, span)
            or self.pointer_math(name, nodes, span)
            or self.group_call(name, nodes, span)
            or self.unit_call(name, nodes, span)
            or self.channel_call(name, nodes, span)
        )
        if found is None:
            raise CompileError.at(
                span,
                f"unknown function '{name}'",
                foreign_function(name, BUILTINS) or foreign_hint(name) or self.similar(name, _CALLED),
                code=Code.UNKNOWN_FUNCTION,
            )
        return found

    def _call_helper(self, callee: tt.FunctionTree, nodes, span):
        if callee.broken:
            raise CompileError()
        self.count(callee.name, nodes, len(callee.parameters), span, callee)
        places = [self.channel_argument(n, p) for n, p in zip(nodes, callee.parameters) if isinstance(p, tt.Channel)]
        channels = tuple(channel for channel, _ in places)
        if callee.kernel or channels and not any(c.parameter for c in channels):
            callee = self.called(callee, channels, span)
            if callee.broken:
                raise CompileError()
        numbers = iter([index for _, index in places])
        arguments = tuple(
            next(numbers) if _is_channel(p) else self.assignable(self.rvalue(n), p.type, f"the argument for '{p.name}'")
            for n, p in zip(nodes, callee.parameters)
        )
        if self.function is not None:
            self.function.calls.setdefault(callee, span)
        return tt.Call(callee.result, span, callee, arguments)

    def _work_item(self, name, nodes, span):
        fn, result, has_dim = WORK_ITEM[name]
        self.count(name, nodes, int(has_dim), span)
        if self.function is not None and fn != "compute_id":
            self.function.asks(name, fn, span)
        if not has_dim:
            return tt.Builtin(result, span, name, ())
        absent = tt.Const(result, span, _ABSENT_DIMENSION.get(fn, 0))
        at: Callable[[int], tt.Expr] = lambda dim: tt.Builtin(result, span, name, (tt.Const(ct.UINT, span, dim),))
        chosen = self.rvalue(nodes[0])
        if isinstance(chosen, tt.VariableRef) and ct.integer(chosen.type):
            # chosen at run time, as by the counter of a loop over dimensions: each of them, or what an absent one has
            found: tt.Expr = absent
            for dim in (2, 1, 0):
                hit = tt.Compare(ct.INT, span, "==", chosen, tt.Const(chosen.type, span, dim))
                found = tt.Conditional(result, span, hit, at(dim), found)
            return found
        dim = self.constant_int(nodes[0], f"the dimension of {name}", "write 0, 1 or 2, or a variable")
        if dim not in (0, 1, 2):
            self.warn(span, f"there is no dimension {dim}", code=Code.NO_SUCH_DIMENSION)
            return absent
        return at(dim)


def _is_channel(parameter: tt.Variable | tt.Channel) -> bool:
    """Whether the parameter is a channel, or the number of one in a function checked for the channels of a call."""
    return isinstance(parameter, tt.Channel) or parameter.kind == "channel"
