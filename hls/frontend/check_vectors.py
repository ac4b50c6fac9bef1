"""Built-in functions of vectors: element-wise calls, conversions, loads and stores."""

import re
from collections.abc import Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Diagnostic, Span
from . import read_only
from . import tree as tt
from . import types as ct
from .builtins import BROADCAST, BUILTINS
from .builtins_vector import VECTOR_BUILTINS
from .check_parts import PartChecker

__all__ = ["VectorCallChecker"]

_CONVERSION = re.compile(r"convert_([a-z]+)(\d*)(_sat)?(?:_(rt[ezpn]))?$")
_ACCESS = re.compile(r"v(load|store)(2|3|4|8|16)$")
#: halves in memory accessed as floats; with "a", vectors are aligned as a whole, so that three elements occupy the
#: space of four
_HALF_ACCESS = re.compile(r"v(load|store)(a?)_half(2|3|4|8|16)?(?:_(rt[ezpn]))?$")

#: what the arguments of a function are, where letters do not tell
_ARGUMENTS = {
    **{f"get_{of}": "0" for of in ("global_id", "local_id", "group_id", "global_size", "local_size", "num_groups")},
    **dict.fromkeys(
        ("barrier", "work_group_barrier", "mem_fence", "read_mem_fence", "write_mem_fence"), "CLK_LOCAL_MEM_FENCE"
    ),
    **{
        f"read_channel{nb}_{who}": f"channel{', &valid' if nb else ''}"
        for nb in ("", "_nb")
        for who in ("intel", "altera")
    },
    **{f"write_channel{nb}_{who}": "channel, value" for nb in ("", "_nb") for who in ("intel", "altera")},
    **dict.fromkeys(("read_pipe", "write_pipe"), "pipe, &value"),
    "__burst_coalesced_cached_load": "p, bytes",
    **{f"__{kind}_load": "p" for kind in ("pipelined", "burst_coalesced", "prefetching")},
    **{f"__{kind}_store": "p, value" for kind in ("pipelined", "burst_coalesced")},
    "clamp": "x, low, high",
    "mix": "x, y, share",
    "step": "edge, x",
    "smoothstep": "low, high, x",
    "select": "where_false, where_true, condition",
    "bitselect": "where_0, where_1, bits",
    "async_work_group_copy": "to, from, count, event",
    "async_work_group_strided_copy": "to, from, count, stride, event",
    "wait_group_events": "count, &event",
    "prefetch": "p, count",
}


def _form(name: str, wanted: int) -> str:
    """Arguments as they may stand in a call of a built-in function that takes so many."""
    if name in _ARGUMENTS:
        return _ARGUMENTS[name]
    if name.startswith("v") and "load" in name:
        return "offset, p"
    if name.startswith("v") and "store" in name:
        return "value, offset, p"
    letters = ("p", "x", "y") if name.startswith("atom") else ("x", "y", "z")
    return ", ".join(letters[:wanted])


class VectorCallChecker(PartChecker):
    """Adds calls of built-in functions whose arguments may be vectors."""

    def count(
        self, name: str, nodes: Sequence[c_ast.Node], wanted: int, span: Span, declared: tt.FunctionTree | None = None
    ) -> None:
        """Raise CompileError if a call of ``name`` does not have the ``wanted`` number of arguments. ``declared`` is
        the function where the program has it."""
        if len(nodes) == wanted:
            return
        told = f"'{name}' takes {wanted} argument{'' if wanted == 1 else 's'}, not {len(nodes)}"
        if declared is not None:
            note = Diagnostic(f"'{name}' is declared here", declared.span, severity="note")
            names = ", ".join(p.name for p in declared.parameters)
            raise CompileError(
                Diagnostic(told, span, f"write {name}({names})", notes=(note,), code=Code.BUILTIN_ARGUMENTS)
            )
        raise CompileError.at(span, told, f"write {name}({_form(name, wanted)})", code=Code.BUILTIN_ARGUMENTS)

    def call_builtin(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr:
        """A call of a function that works on numbers, and on vectors element by element."""
        return self.applied(name, [self._operand(n, name) for n in nodes], span)

    def applied(self, name: str, arguments: list[tt.Expr], span: Span) -> tt.Expr:
        """The function applied to numbers or vectors."""
        if name in VECTOR_BUILTINS and (name not in BUILTINS or any(isinstance(a.type, ct.Vector) for a in arguments)):
            return self._whole(name, arguments, span)
        row = BUILTINS[name]
        self.count(name, arguments, row.arity, span)
        shape = self._shape(name, arguments, span)
        elements = [ct.element_of(a.type) for a in arguments]
        if shape is not None and name not in BROADCAST:  # a scalar next to vectors becomes a vector
            elements = [
                t if isinstance(a.type, ct.Vector) else ct.element_of(shape) for a, t in zip(arguments, elements)
            ]
        fitted = row.rule(elements)
        if isinstance(fitted, str):
            raise CompileError.at(span, f"'{name}' {fitted}", code=Code.BUILTIN_ARGUMENTS)
        params, result = fitted
        if shape is None:
            return tt.Builtin(result, span, name, tuple(self.convert(a, t) for a, t in zip(arguments, params)))
        params = [ct.Vector(t, shape.length) for t in params]
        self._check_elements(name, arguments, params, span)
        result = ct.mask_of(params[0]) if row.test else ct.Vector(result, shape.length)
        return tt.Builtin(result, span, name, tuple(self.convert(a, t) for a, t in zip(arguments, params)))

    def _operand(self, node, name: str) -> tt.Expr:
        e = self.rvalue(node)
        if not ct.number(e.type):
            raise CompileError.at(
                e.span,
                f"an argument of {name} must be a number, not '{e.type}'",
                "index it to get an element" if isinstance(e.type, ct.Pointer) else "",
                code=Code.BUILTIN_ARGUMENTS,
            )
        return e

    def _whole(self, name: str, arguments, span: Span) -> tt.Expr:
        row = VECTOR_BUILTINS[name]
        self.count(name, arguments, row.arity, span)
        fitted = row.rule([a.type for a in arguments])
        if isinstance(fitted, str):
            raise CompileError.at(span, f"'{name}' {fitted}", code=Code.BUILTIN_ARGUMENTS)
        params, result = fitted
        return tt.Builtin(result, span, name, tuple(self.convert(a, t) for a, t in zip(arguments, params)))

    def _shape(self, name: str, arguments, span: Span) -> ct.Vector | None:
        """The vector type that determines the length of the call's vectors."""
        vectors = [a.type for a in arguments if isinstance(a.type, ct.Vector)]
        if not vectors:
            return None
        if any(v.length != vectors[0].length for v in vectors):
            raise CompileError.at(
                span,
                f"'{name}' takes vectors of one length, not " + ", ".join(f"'{a.type}'" for a in arguments),
                code=Code.BUILTIN_ARGUMENTS,
            )
        whole = ct.integer(ct.element_of(vectors[0])) and name not in BROADCAST
        if whole and any(not isinstance(a.type, ct.Vector) and not ct.integer(a.type) for a in arguments):
            raise CompileError.at(
                span,
                f"'{name}' takes only integers beside '{vectors[0]}'",
                f"write convert_{vectors[0]}(...) around it",
                code=Code.BUILTIN_ARGUMENTS,
            )
        return vectors[0]

    def _check_elements(self, name, arguments, params, span):
        for a, t in zip(arguments, params):
            if isinstance(a.type, ct.Vector) and a.type != t:
                raise CompileError.at(
                    span,
                    f"an argument of '{name}' is '{a.type}', not '{t}'",
                    f"write convert_{t}(...)",
                    code=Code.BUILTIN_ARGUMENTS,
                )

    # -- conversions

    def conversion(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr | None:
        """``convert_T...`` and ``as_T`` of vectors; None if ``name`` is neither."""
        if name.startswith("as_") and name[3:] in (ct.VECTORS | ct.SCALARS):
            return self._reinterpret((ct.VECTORS | ct.SCALARS)[name[3:]], name, nodes, span)
        match = _CONVERSION.match(name)
        if match is None:
            return None
        base, length, saturate, rounding = match.groups()
        target = ct.VECTORS.get(base + length) if length else ct.SCALARS.get(base)
        if target is None or target == ct.BOOL_T:
            return None
        self.count(name, nodes, 1, span)
        e = self._operand(nodes[0], name)
        if getattr(e.type, "length", 1) != getattr(target, "length", 1):
            raise CompileError.at(
                e.span, f"'{name}' cannot convert '{e.type}'", "the lengths differ", code=Code.BUILTIN_ARGUMENTS
            )
        return self._converted(name, e, target, bool(saturate), rounding, span)

    def _converted(self, name, e, target, saturate: bool, rounding: str | None, span: Span) -> tt.Expr:
        source, element = ct.element_of(e.type), ct.element_of(target)
        if isinstance(element, ct.Float):
            if saturate:
                raise CompileError.at(
                    span, f"'{name}': only integers saturate", f"write convert_{target}", code=Code.BUILTIN_ARGUMENTS
                )
            if rounding not in (None, "rte") and source != element:
                return tt.ConvertExactly(target, span, e, saturate, rounding)
        elif saturate or (rounding not in (None, "rtz") and isinstance(source, ct.Float)):
            return tt.ConvertExactly(target, span, e, saturate, rounding or "rtz")
        return self.convert(e, target)

    def _reinterpret(self, target: ct.CType, name: str, nodes, span: Span) -> tt.Expr:
        self.count(name, nodes, 1, span)
        e = self._operand(nodes[0], name)
        if e.type == ct.BOOL_T or target == ct.BOOL_T or ct.container(e.type) != e.type or e.type.size != target.size:
            raise CompileError.at(
                span,
                f"'{name}' takes a type of {target.size} byte{'s' * (target.size > 1)}, not {e.type}",
                code=Code.BUILTIN_ARGUMENTS,
            )
        if isinstance(e.type, ct.Vector) or isinstance(target, ct.Vector):
            return tt.Reinterpret(target, span, e)
        return tt.Builtin(target, span, name, (e,))

    # -- memory

    def _half_access(self, name: str, nodes, span: Span) -> tt.Expr | None:
        match = _HALF_ACCESS.match(name)
        if match is None or (match.group(4) and match.group(1) == "load"):
            return None
        store, length = match.group(1) == "store", int(match.group(3) or 1)
        self.count(name, nodes, 2 + store, span)
        pointer, offset = self.rvalue(nodes[-1]), self.number(nodes[-2], f"the offset of {name}")
        if not isinstance(pointer.type, ct.Pointer) or pointer.type.pointee != ct.HALF:
            raise CompileError.at(
                pointer.span,
                f"the last argument of {name} must be a pointer to half, not '{pointer.type}'",
                code=Code.BUILTIN_ARGUMENTS,
            )
        if not ct.integer(offset.type):
            raise CompileError.at(
                offset.span,
                f"the offset of {name} must be an integer, not '{offset.type}'",
                code=Code.BUILTIN_ARGUMENTS,
            )
        step = 4 if match.group(2) and length == 3 else length
        place = self._moved_by(pointer, offset, step, span)
        shape = ct.INT if length == 1 else ct.Vector(ct.INT, length)
        half, single = ct.with_element(shape, ct.HALF), ct.with_element(shape, ct.FLOAT)
        place = self.dereference(place, span) if length == 1 else tt.Packed(half, span, place)
        if not store:
            return self.convert(place, single)
        self.check_writable(name, pointer, span)
        given = self.rvalue(nodes[0])
        wide = ct.with_element(shape, ct.DOUBLE)  # rounded once, from double to half
        value = self.assignable(given, wide if given.type == wide else single, f"the value of {name}")
        return self.stored(place, tt.ConvertExactly(half, span, value, False, match.group(4) or "rte"), span)

    def _moved_by(self, pointer: tt.Expr, offset: tt.Expr, step: int, span: Span) -> tt.Expr:
        """The pointer moved by ``offset`` times ``step`` elements."""
        return tt.PointerAdd(pointer.type, span, pointer, self.folded(offset), step=step)

    def check_writable(self, name: str, pointer: tt.Expr, span: Span) -> None:
        """Raise CompileError if ``pointer`` is to const or constant memory, through which ``name`` would write."""
        if pointer.type.const or pointer.type.space == "constant":
            raise CompileError.at(
                span, f"{name} writes through '{pointer.type}'", read_only.hint(pointer), code=Code.READ_ONLY
            )

    def stored(self, place: tt.LValue, value: tt.Expr, span: Span) -> tt.Expr:
        """An assignment without a value."""
        assign = tt.Assign(place.type, span, place, value)
        return tt.Sequence(ct.VOID, span, assign, tt.Convert(ct.VOID, span, tt.Const(ct.INT, span, 0)))

    def vector_access(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr | None:
        """``vloadN(offset, p)`` and ``vstoreN(v, offset, p)``; None if ``name`` is neither."""
        match = _ACCESS.match(name)
        if match is None:
            return self._half_access(name, nodes, span)
        store, length = match.group(1) == "store", int(match.group(2))
        self.count(name, nodes, 2 + store, span)
        pointer = self.rvalue(nodes[-1])
        if (
            not isinstance(pointer.type, ct.Pointer)
            or not ct.arithmetic(pointer.type.pointee)
            or pointer.type.pointee == ct.BOOL_T
            or ct.container(pointer.type.pointee) != pointer.type.pointee
        ):
            raise CompileError.at(
                pointer.span,
                f"the last argument of {name} must be a pointer to numbers, not '{pointer.type}'",
                "pass the address of the first element",
                code=Code.BUILTIN_ARGUMENTS,
            )
        t = ct.Vector(pointer.type.pointee, length)
        offset = self.number(nodes[-2], f"the offset of {name}")
        if not ct.integer(offset.type):
            raise CompileError.at(
                offset.span,
                f"the offset of {name} must be an integer, not '{offset.type}'",
                code=Code.BUILTIN_ARGUMENTS,
            )
        place = tt.Packed(t, span, self._moved_by(pointer, offset, length, span))
        if not store:
            return place
        self.check_writable(name, pointer, span)
        return self.stored(place, self.assignable(self.rvalue(nodes[0]), t, f"the value of {name}"), span)
