"""Calls: helper functions, built-in functions, work-item functions, conversions; and what is refused."""

import re

from ..diag import CompileError, Span
from . import tree as tt
from . import types as ct
from .builtins import BUILTINS, NOT_BUILT, WORK_ITEM
from .check_values import ValueChecker
from .words import VECTOR_TYPES

__all__ = ["CallChecker"]

_CONVERSION = re.compile(r"convert_([a-z]+)(\d*)(_sat)?(_rt[ezpn])?$")
_VECTOR_AS = re.compile(r"as_([a-z]+\d+)$")
#: what the query answers in a dimension that does not exist
_ABSENT_DIMENSION = {"global_size": 1, "local_size": 1, "num_groups": 1}


class CallChecker(ValueChecker):
    """Adds calls to the expression checker."""

    def _expr_funccall(self, node):
        span = self.span(node)
        name = getattr(node.name, "name", None)
        if not isinstance(name, str):
            raise CompileError.at(span, "function pointers are not supported", "call the function by its name")
        name = str(name)
        nodes = node.args.exprs if node.args else []
        meaning = self.find(name)
        if isinstance(meaning, tt.FunctionTree):
            return self._call_helper(meaning, nodes, span)
        if meaning is not None:
            raise CompileError.at(span, f"'{name}' is not a function")
        if name in WORK_ITEM:
            return self._work_item(name, nodes, span)
        if name in BUILTINS:
            return self._call_builtin(name, nodes, span)
        if name in NOT_BUILT:
            raise CompileError.at(span, *NOT_BUILT[name])
        return self._conversion_call(name, nodes, span)

    def _count(self, name: str, nodes, wanted: int, span: Span):
        if len(nodes) != wanted:
            plural = "" if wanted == 1 else "s"
            raise CompileError.at(span, f"'{name}' takes {wanted} argument{plural}, not {len(nodes)}")

    def _call_helper(self, callee: tt.FunctionTree, nodes, span):
        if callee.kernel:
            raise CompileError.at(span, f"'{callee.name}' is a kernel: it cannot be called",
                                  "move its body into a helper function that both call")
        if callee.broken:
            raise CompileError()
        self._count(callee.name, nodes, len(callee.parameters), span)
        arguments = tuple(self.assignable(self.rvalue(n), p.type, f"the argument for '{p.name}'")
                          for n, p in zip(nodes, callee.parameters))
        if self.function is not None:
            self.function.calls.setdefault(callee, span)
        return tt.Call(callee.result, span, callee, arguments)

    def _work_item(self, name, nodes, span):
        fn, result, has_dim = WORK_ITEM[name]
        self._count(name, nodes, int(has_dim), span)
        if self.function is not None:
            self.function.work_items.add(fn)
        if not has_dim:
            return tt.Builtin(result, span, name, ())
        dim = self.constant_int(nodes[0], f"the dimension of {name}", "write 0, 1 or 2")
        if dim not in (0, 1, 2):
            self.warn(span, f"there is no dimension {dim}")
            return tt.Const(result, span, _ABSENT_DIMENSION.get(fn, 0))
        return tt.Builtin(result, span, name, (tt.Const(ct.UINT, span, dim),))

    def _call_builtin(self, name, nodes, span):
        row = BUILTINS[name]
        self._count(name, nodes, row.arity, span)
        arguments = [self.number(n, f"an argument of {name}") for n in nodes]
        fitted = row.rule([a.type for a in arguments])
        if isinstance(fitted, str):
            raise CompileError.at(span, f"'{name}' {fitted}")
        params, result = fitted
        return tt.Builtin(result, span, name, tuple(self.convert(a, t) for a, t in zip(arguments, params)))

    def _conversion_call(self, name, nodes, span):
        match = _CONVERSION.match(name)
        if (match and match.group(1) + match.group(2) in VECTOR_TYPES) or \
                ((v := _VECTOR_AS.match(name)) and v.group(1) in VECTOR_TYPES):
            raise CompileError.at(span, "vector types are not built yet", "convert the elements one by one")
        if not match or match.group(2) or match.group(1) not in (*ct.SCALARS, "double", "half") or match.group(1) == "bool":
            raise CompileError.at(span, f"unknown function '{name}'", self.similar(name, (*BUILTINS, *WORK_ITEM)))
        base, _, saturate, rounding = match.groups()
        target = ct.SCALARS.get(base)
        if target is None:
            raise CompileError.at(span, f"'{base}' is not built yet", "use float")
        default = "_rte" if isinstance(target, ct.Float) else "_rtz"
        if saturate or rounding not in (None, default):
            raise CompileError.at(span, f"'{name}' is not built yet", f"convert_{base}(x) rounds "
                                  + ("to nearest" if default == "_rte" else "towards zero"))
        self._count(name, nodes, 1, span)
        return self.convert(self.number(nodes[0], f"an argument of {name}"), target)
