"""Attributes of kernels, memories, arguments and channels: their names, their arguments, and which contradict each
other.

A known attribute is passed to the IR under its name; its value is True, a number, a text, or a tuple of these.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ..diag import Code, CompileError
from ..ir import Attr
from ..limits import MOST_WORK_ITEMS
from .lexer import Attribute
from .parse import parse_expressions

if TYPE_CHECKING:
    from .check_declarations import DeclarationChecker

__all__ = [
    "ARGUMENT",
    "CHANNEL",
    "FUNCTION",
    "HINTS",
    "LOCAL_ARGUMENT",
    "MEANT_FOR_OTHERS",
    "MEMORY",
    "TYPE",
    "Form",
    "check_function",
    "check_memory",
    "owners",
    "read",
    "settled",
]


@dataclass(frozen=True)
class Form:
    """How an attribute is written: with ``least`` to ``most`` arguments, numbers from ``lowest`` to ``highest`` or
    texts.

    ``name`` is its name in the IR if that differs, and ``value`` what one without arguments means; ``kept`` is False
    for an attribute without effect here, of which the IR has the text alone.
    """

    least: int = 0
    most: int = 0
    lowest: int = 1
    highest: int = (1 << 31) - 1
    text: bool = False
    power: bool = False  #: numbers must be powers of two
    name: str = ""
    value: int | bool = True
    kept: bool = True
    words: tuple[str, ...] = ()  #: each argument is a number in parentheses behind one of these, in this order
    promises: tuple[
        str, ...
    ] = ()  #: the last argument may be one of these words, which becomes an attribute of its own


#: most copies of a kernel that share its iterations
MOST_COPIES = 16

FUNCTION: dict[str, Form] = {
    "reqd_work_group_size": Form(3, 3, name=Attr.WORK_GROUP_SIZE),
    "max_work_group_size": Form(1, 3),
    "xcl_max_work_group_size": Form(3, 3, name=Attr.MAX_WORK_GROUP_SIZE),
    "num_simd_work_items": Form(1, 1, highest=16, power=True),
    "num_compute_units": Form(1, 3),
    "max_global_work_dim": Form(1, 1, lowest=0, highest=3),
    "uses_global_work_offset": Form(1, 1, lowest=0, highest=1),
    "xcl_zero_global_work_offset": Form(name=Attr.USES_GLOBAL_WORK_OFFSET, value=0),
    "autorun": Form(),
    "task": Form(),
    "feed_forward": Form(0, 3, lowest=0, words=("memory", "compute"), promises=(Attr.INDEPENDENT, Attr.SILENT_STORES)),
    "use_stall_enable_clusters": Form(),
    "scheduler_target_fmax_mhz": Form(1, 1),
    "num_share_resources": Form(1, 1),
    "max_share_resources": Form(1, 1),
    "max_unroll_loops": Form(1, 1),
    "work_group_size_hint": Form(3, 3, kept=False),
    "vec_type_hint": Form(0, 9, kept=False),
}

#: attributes of kernels that hardware does not depend on, and why; hosts are told of them
HINTS: dict[str, str] = {
    "work_group_size_hint": "hardware is the same for work-groups of all sizes; reqd_work_group_size builds it for one",
    "vec_type_hint": "hardware is built for the types of the variables; num_simd_work_items runs work-items together",
}

MEMORY: dict[str, Form] = {
    "memory": Form(0, 1, text=True),
    "register": Form(),
    "numbanks": Form(1, 1, power=True),
    "bankwidth": Form(1, 1, power=True),
    "bank_bits": Form(1, 32, lowest=0, highest=63),
    "singlepump": Form(),
    "doublepump": Form(),
    "numreadports": Form(1, 1),
    "numwriteports": Form(1, 1),
    "simple_dual_port": Form(),
    "merge": Form(1, 2, text=True),
    "max_replicates": Form(1, 1),
    "private_copies": Form(1, 1, lowest=0),
    "max_private_copies": Form(1, 1, lowest=0),
    "max_concurrency": Form(1, 1, lowest=0),
    "static_array_offset": Form(1, 1, lowest=0),
    "force_pow2_depth": Form(1, 1, lowest=0, highest=1),
    "aligned": Form(0, 1, power=True),
}

ARGUMENT: dict[str, Form] = {"buffer_location": Form(1, 1, text=True), "aligned": Form(0, 1, power=True)}

#: of a pointer to local memory: a memory whose size the host sets
LOCAL_ARGUMENT: dict[str, Form] = {"local_mem_size": Form(1, 1)} | {
    name: form
    for name, form in MEMORY.items()
    if name
    not in (
        "register",
        "merge",
        "private_copies",
        "max_private_copies",
        "max_concurrency",
        "static_array_offset",
        "force_pow2_depth",
    )
}

#: of a typedef: an integer of exactly so many bits
TYPE: dict[str, Form] = {"ap_int": Form(1, 1, highest=64)}

CHANNEL: dict[str, Form] = {
    "depth": Form(1, 1, lowest=0),
    "xcl_reqd_pipe_depth": Form(1, 1, name=Attr.CHANNEL_DEPTH),
    "io": Form(1, 1, text=True),
    "blocking": Form(),
}

#: which declarations may have which attributes
OWNERS = (
    ("kernels", FUNCTION),
    ("variables in kernels", MEMORY),
    ("__local arguments", LOCAL_ARGUMENT),
    ("__global arguments", ARGUMENT),
    ("typedefs", TYPE),
    ("channels", CHANNEL),
)

#: valid arguments of memory("..."): block RAM, or tables of logic cells
RAM_KINDS = ("BLOCK_RAM", "M20K", "MLAB")

#: attributes that request what is done anyway, or what only processors have
MEANT_FOR_OTHERS = frozenset(
    {
        "always_inline",
        "noinline",
        "unused",
        "used",
        "pure",
        "const",
        "nothrow",
        "overloadable",
        "endian",
        "nosvm",
        "convergent",
        "flatten",
        "noduplicate",
        "xcl_array_partition",
        "xcl_array_reshape",
        "xcl_pipeline_workitems",
        "max_constant_size",
    }
)


def owners(name: str) -> str:
    """The declarations that may have an attribute of this name; "" if none may."""
    return ", ".join(what for what, forms in OWNERS if name in forms)


def read(checker: "DeclarationChecker", attribute: Attribute, form: Form) -> Any:
    """The attribute's value; raises CompileError if it is not written as ``form`` requires. ``checker`` evaluates
    constants."""
    name, span = attribute.name, attribute.span
    if not form.kept:  # without effect, whatever its arguments: vec_type_hint takes a type
        return True
    nodes = parse_expressions(attribute.arguments, span, checker.types()) if attribute.arguments and form.most else []
    if not form.least <= len(nodes) <= form.most or (attribute.arguments and not form.most):
        raise CompileError.at(
            span, f"{name} takes {_count(form)}", f"write {_example(name, form, nodes)}", code=Code.ATTRIBUTE_ARGUMENT
        )
    if form.words:
        return _parts(checker, nodes, attribute, form)
    if form.text:
        values: tuple[Any, ...] = tuple(_text(checker, node, attribute, form) for node in nodes)
    else:
        values = tuple(_number(checker, node, attribute, form) for node in nodes)
    return values if len(values) > 1 else values[0] if values else form.value


@dataclass(frozen=True)
class Promising:
    """The value of an attribute, and the promise that is given with it: an attribute as well, and the only one if the
    value is None."""

    value: int | bool | tuple[int, ...] | None
    promise: str


def settled(attrs: dict) -> dict:
    """The attributes, each promise one of its own. Loops whose iterations are independent but for stores that change
    nothing are also told as independent, which they are to the compiler."""
    given = [one.promise for one in attrs.values() if isinstance(one, Promising)]
    promises = dict.fromkeys([*given, *[Attr.INDEPENDENT] * (Attr.SILENT_STORES in given)], True)
    values = {name: one.value if isinstance(one, Promising) else one for name, one in attrs.items()}
    return {name: value for name, value in values.items() if value is not None} | promises


def _parts(checker, nodes: list, attribute: Attribute, form: Form):
    """What feed_forward says: True, or the numbers of memory parts and compute parts; with its promise, if it gives
    that."""
    if nodes and isinstance(nodes[-1], c_ast.ID) and nodes[-1].name in form.promises:
        return Promising(_numbers(checker, nodes[:-1], attribute, form) if len(nodes) > 1 else None, nodes[-1].name)
    return _numbers(checker, nodes, attribute, form) if nodes else True


def _numbers(checker, nodes: list, attribute: Attribute, form: Form) -> bool | tuple[int, ...]:
    """The numbers of memory parts and compute parts; True for one of each."""
    given: list[Sequence[c_ast.Node]] = [
        node.args.exprs if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.args else ()
        for node in nodes
    ]
    names = tuple(node.name.name for node, found in zip(nodes, given, strict=True) if len(found) == 1)
    if names != form.words or len(nodes) > len(names):
        raise CompileError.at(
            attribute.span,
            f"{attribute.name} takes no argument, or {' and '.join(f'{word}(NUMBER)' for word in form.words)}, and "
            f"{' or '.join(form.promises)} behind them",
            f"write {attribute.name}, {attribute.name}({form.promises[0]}), or {attribute.name}(memory(0), compute(2))",
            code=Code.ATTRIBUTE_ARGUMENT,
        )
    memory, compute = (_number(checker, one, attribute, form) for (one,) in given)
    if (memory, compute) == (1, 1):
        return True
    if compute and 2 <= max(memory, compute) <= MOST_COPIES:
        return (memory, compute)
    if compute == 0 < memory:
        what, hint = "needs a compute part", "write memory(1), compute(1)"
    else:
        what = "needs a compute part" if compute == 0 else "is the kernel as it is"
        what = f"makes more than {MOST_COPIES} copies" if max(memory, compute) > MOST_COPIES else what
        hint = (
            f"write compute(2) to compute({MOST_COPIES}) for copies that share the iterations, or remove the attribute"
        )
    text = f"{attribute.name}(memory({memory}), compute({compute})) {what}"
    raise CompileError.at(attribute.span, text, hint, code=Code.ATTRIBUTE_ARGUMENT)


def _count(form: Form) -> str:
    what = "text" if form.text else "number"
    if form.most == 0:
        return "no argument"
    if form.least == form.most:
        return f"{form.most} {what}{'s' * (form.most > 1)}"
    return f"{form.least} to {form.most} {what}s"


def _example(name: str, form: Form, nodes: list) -> str:
    """The attribute as it may be written, with those of its ``nodes`` that are numbers it may have."""
    if not form.most:
        return name
    one = '"name"' if form.text else str(max(form.lowest, 2 if form.power else 1))
    kept = [node.value if _fits(node, form) else one for node in nodes[: form.most]]
    return f"{name}({', '.join([*kept, *[one] * (max(1, form.least) - len(kept))])})"


def _fits(node, form: Form) -> bool:
    number = node.value if isinstance(node, c_ast.Constant) and not form.text else ""
    return number.isdecimal() and form.lowest <= int(number) <= form.highest


def _number(checker, node, attribute: Attribute, form: Form) -> int:
    number = checker.constant_int(node, f"an argument of {attribute.name}")
    if not form.lowest <= number <= form.highest:
        upto = f"{form.lowest} to {form.highest}" if form.highest < (1 << 31) - 1 else f"{form.lowest} or more"
        hint = (
            f"write a number of {upto}"
            if not form.power
            else f"write {form.lowest if number < form.lowest else form.highest}: it must be a power of two of {upto}"
        )
        raise CompileError.at(
            attribute.span, f"{attribute.name} cannot be {number}", hint, code=Code.ATTRIBUTE_ARGUMENT
        )
    if form.power and number & number - 1:
        raise CompileError.at(
            attribute.span,
            f"{attribute.name} must be a power of two, not {number}",
            f"write {1 << number.bit_length() - 1} or {1 << number.bit_length()}",
            code=Code.ATTRIBUTE_ARGUMENT,
        )
    return number


def _text(checker, node, attribute: Attribute, form: Form) -> str:
    if not isinstance(node, c_ast.Constant) or node.type != "string":
        raise CompileError.at(
            attribute.span,
            f"an argument of {attribute.name} must be a text in quotes",
            f"write {_example(attribute.name, form, [])}",
            code=Code.ATTRIBUTE_ARGUMENT,
        )
    return node.value.strip('"')


def check_function(attrs: dict, spans: dict, parameters: int) -> None:
    """Raise CompileError for kernel attributes that contradict each other; ``spans`` holds their source locations."""
    size = attrs.get(Attr.WORK_GROUP_SIZE)
    most = attrs.get(Attr.MAX_WORK_GROUP_SIZE)
    limit = _product(most) if most else None
    if size and limit is not None and _product(size) > limit:
        _refuse(
            spans,
            Attr.MAX_WORK_GROUP_SIZE,
            f"a group of {_product(size)} work-items is required, but at most {limit} allowed",
            "make the two agree",
        )
    for name in (Attr.WORK_GROUP_SIZE, Attr.MAX_WORK_GROUP_SIZE):
        if _product(attrs.get(name, 1)) > MOST_WORK_ITEMS:
            _refuse(
                spans,
                name,
                f"a group of {_product(attrs[name]):,} work-items; the limit is {MOST_WORK_ITEMS:,}",
                "make groups smaller, and launch more of them",
            )
    simd = attrs.get(Attr.NUM_SIMD_WORK_ITEMS, 1)
    if size and size[0] % simd:
        _refuse(
            spans,
            Attr.NUM_SIMD_WORK_ITEMS,
            f"num_simd_work_items({simd}) does not divide the group size {size[0]}",
            "make the first dimension of reqd_work_group_size a multiple of it",
        )
    if attrs.get(Attr.MAX_GLOBAL_WORK_DIM) == 0 and size and _product(size) > 1:
        _refuse(
            spans,
            Attr.MAX_GLOBAL_WORK_DIM,
            "max_global_work_dim(0) asks for one work-item, reqd_work_group_size for more",
            "remove one of them",
        )
    if attrs.get(Attr.AUTORUN) and parameters:
        _refuse(spans, Attr.AUTORUN, "an autorun kernel has no arguments", "read from channels, or remove autorun")
    if attrs.get(Attr.AUTORUN) and attrs.keys() & {Attr.FEED_FORWARD, Attr.INDEPENDENT}:
        _refuse(
            spans,
            Attr.FEED_FORWARD,
            "feed_forward splits a kernel into parts that one launch starts, and an autorun kernel has no launch",
            "remove one of the two",
        )


def check_memory(attrs: dict, spans: dict) -> None:
    """Raise CompileError for memory attributes that contradict each other."""
    if attrs.get(Attr.SINGLEPUMP) and attrs.get(Attr.DOUBLEPUMP):
        _refuse(spans, Attr.DOUBLEPUMP, "a memory is pumped once or twice, not both", "remove singlepump or doublepump")
    kind = attrs.get(Attr.RAM_KIND, True)
    if kind is not True and kind not in RAM_KINDS:
        _refuse(
            spans,
            Attr.RAM_KIND,
            f'memory("{kind}") names no kind of RAM',
            f"write one of {', '.join(RAM_KINDS)}, or memory alone",
        )
    if kind == "MLAB" and attrs.get(Attr.DOUBLEPUMP):
        _refuse(
            spans,
            Attr.DOUBLEPUMP,
            'the tables of memory("MLAB") cannot be double-pumped',
            'write memory("BLOCK_RAM"), or remove doublepump',
        )
    merge = attrs.get(Attr.MERGE)
    if isinstance(merge, tuple) and merge[1] not in ("depth", "width"):
        _refuse(
            spans,
            Attr.MERGE,
            f'memories are merged by "depth" or by "width", not by "{merge[1]}"',
            f'write merge("{merge[0]}", "depth")',
        )
    others = sorted(
        set(attrs) - {Attr.REGISTER, Attr.ALIGNED, Attr.MAX_CONCURRENCY, Attr.PRIVATE_COPIES, Attr.MAX_PRIVATE_COPIES}
    )
    if attrs.get(Attr.REGISTER) and others:
        _refuse(spans, others[0], f"'{others[0]}' requires a memory, 'register' excludes one", "remove one of them")
    bits, banks = attrs.get(Attr.BANK_BITS), attrs.get(Attr.NUMBANKS)
    count = 1 if isinstance(bits, int) else len(bits or ())
    if bits is not None and banks is not None and banks != 1 << count:
        _refuse(
            spans,
            Attr.BANK_BITS,
            f"{count} bank bits choose among {1 << count} banks, not {banks}",
            f"write numbanks({1 << count})",
        )


def _product(numbers: int | Iterable[int]) -> int:
    return numbers if isinstance(numbers, int) else prod(numbers)


def _refuse(spans: dict, name: str, message: str, hint: str):
    raise CompileError.at(spans[name], message, hint, code=Code.ATTRIBUTES_CONTRADICT)
