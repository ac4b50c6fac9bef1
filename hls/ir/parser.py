"""Reads the text form that ``hls.ir.printer`` writes; ``;`` begins a comment, up to the end of the line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from ..diag import Span
from ..narrow import present
from .nodes import Function, InitialValue, MemoryObject, Module, Op, Parameter, Region, Value
from .optable import OPS
from .types import PTR, ArrayType, FloatType, IntType, TokenType, Type
from .values import bits_to_float

__all__ = ["ParseError", "parse_function", "parse_module"]

_TOKEN = re.compile(
    r"""
    (?:\s|;[^\n]*+)*+(?: (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<float>0f[0-9a-f]+) | (?P<hex>0x[0-9a-f]*) | (?P<number>-?\d+(?![\w.]))
    | (?P<value>%[\w.$]+) | (?P<name>@?[\w.$]+) | (?P<mark>[{}()\[\],:=?*@])
    | (?P<end>\Z) )""",
    re.VERBOSE,
)
_SKIPPED = re.compile(r"(?:\s|;[^\n]*+)*+")
_FLAGS = ("const", "restrict", "volatile")


class ParseError(Exception):
    """Text that is not IR; the message names the line."""


def parse_module(text: str) -> Module:
    """All functions of the text. Raises ParseError."""
    parser = _Parser(text)
    functions, channels = [], []
    while not parser.at_end and parser.next.text == "memory":
        channels.append(parser.memory())
    while not parser.at_end:
        functions.append(parser.function())
    return Module({f.name: f for f in functions}, channels={c.name: c for c in channels})


def parse_function(text: str) -> Function:
    """The only function of the text. Raises ParseError."""
    functions = list(parse_module(text).functions.values())
    if len(functions) != 1:
        raise ParseError(f"expected one function, found {len(functions)}")
    return functions[0]


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while (found := _TOKEN.match(text, position)) is None or found.lastgroup != "end":
        start = present(_SKIPPED.match(text, position)).end()
        line = text.count("\n", 0, start) + 1
        if found is None:
            yield _Token("unreadable", text[start : start + 20].strip(), line)
            return
        kind = present(found.lastgroup)
        yield _Token(kind, found[kind], line)
        position = found.end()


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.place = 0
        self.values: dict[str, Value] = {}

    # tokens

    @property
    def at_end(self) -> bool:
        return self.place == len(self.tokens)

    @property
    def next(self) -> _Token:
        if self.at_end:
            raise ParseError("the text ends too early")
        token = self.tokens[self.place]
        if token.kind == "unreadable":
            raise ParseError(f"line {token.line}: cannot read {token.text!r}")
        return token

    def ahead(self, number: int) -> str:
        """The text of a later token; empty if the text ends before it."""
        place = self.place + number
        return self.tokens[place].text if place < len(self.tokens) else ""

    def fail(self, message: str) -> NoReturn:
        raise ParseError(f"line {self.next.line}: {message}")

    def take(self, kind: str | None = None, text: str | None = None) -> str:
        """The next token, which must be of the kind or have the text."""
        token = self.next
        if kind is not None and token.kind != kind or text is not None and token.text != text:
            self.fail(f"expected {text or kind}, found {token.text!r}")
        self.place += 1
        return token.text

    def accept(self, text: str) -> bool:
        found = not self.at_end and self.next.text == text and self.next.kind != "string"
        self.place += found
        return found

    def items(self, item, close: str) -> list:
        """Items up to ``close``, separated by commas."""
        items: list = []
        while not self.accept(close):
            if items:
                self.take(text=",")
            items.append(item())
        return items

    # small things

    def type(self) -> Type:
        if self.accept("["):
            length = int(self.take("number"))
            self.take(text="x")
            element = self.type()
            self.take(text="]")
            if not isinstance(element, IntType | FloatType):
                self.fail(f"an array has numbers as its elements, not {element}")
            return ArrayType(element, length)
        name = self.take("name")
        if name == "ptr":
            return PTR
        token = re.fullmatch(r"token(_overlap)?(_between)?(?:_ahead_(\d+))?(?:_(\d+))?", name)
        if token:
            ahead = None if token[3] is None else int(token[3])
            return TokenType(token[1] is not None, int(token[4] or 1), token[2] is not None, ahead)
        if not re.fullmatch(r"[if]\d+", name):
            self.place -= 1
            self.fail(f"unknown type {name}")
        return (IntType if name[0] == "i" else FloatType)(int(name[1:]))

    def string(self) -> str:
        return re.sub(r"\\(.)", r"\1", self.take("string")[1:-1])

    def span(self) -> Span | None:
        if not self.accept("@"):
            return None
        file = self.string()
        self.take(text=":")
        line = int(self.take("number"))
        self.take(text=":")
        return Span(file, line, int(self.take("number")))

    def attribute(self, type: Type | None = None):
        token = self.next
        if token.kind == "string":
            return self.string()
        if self.accept("["):
            return tuple(self.items(lambda: self.attribute(), "]"))
        if token.kind == "float":
            bits = type.bits if isinstance(type, FloatType) else 64
            return bits_to_float(int.from_bytes(bytes.fromhex(self.take()[2:])), bits)
        if token.kind == "number":
            return int(self.take())
        if token.text not in ("true", "false"):
            self.fail(f"{token.text!r} is not an attribute")
        return self.take() == "true"

    def attributes(self, type: Type | None = None) -> dict:
        def pair():
            key = self.take("name")
            self.take(text="=")
            return key, self.attribute(type)

        return dict(self.items(pair, "}"))

    def define(self) -> Value:
        """``%name: type``, where the name is a stem, ``stem.number`` or a number."""
        if self.next.text in self.values:
            self.fail(f"{self.next.text} is defined twice")
        token = self.take("value")
        self.take(text=":")
        value = Value(self.type(), re.sub(r"(^|\.)\d+$", "", token[1:]))
        self.values[token] = value
        return value

    def use(self) -> Value:
        if self.next.text not in self.values:
            self.fail(f"{self.next.text} is not defined")
        return self.values[self.take("value")]

    # functions

    def function(self) -> Function:
        self.values = {}
        if self.next.text not in ("kernel", "helper"):
            self.fail(f"a function begins with kernel or helper, not with {self.next.text!r}")
        kind = self.take("name")
        if self.next.kind == "name" and not self.next.text.startswith("@"):
            self.fail("a function's name begins with @")
        name = self.take("name")
        f = Function(name[1:], kind)
        self.take(text="(")
        f.args = _owned(self.items(self.define, ")"), f.body)
        # a brace that opens the body is followed by a new line, one that opens attributes by `name =`
        if self.ahead(2) == "=" and self.accept("{"):
            f.attrs = self.attributes()
        f.span = self.span()
        self.take(text="{")
        while self.next.text == "param":
            f.params.append(self.parameter())
        while self.next.text == "memory":
            memory = self.memory()
            f.memories[memory.name] = memory
        self.operations(f.body)
        self.take(text="}")
        return f

    def parameter(self) -> Parameter:
        self.take(text="param")
        name = self.take()
        self.take(text=":")
        kind, written = self.take("name"), self.string()
        resolved = self.string() if self.accept("=") else ""
        size, initial = int(self.take("number")), None
        if self.accept("initial"):
            initial = InitialValue(int(self.take("number")), bytes.fromhex(self.take("hex")[2:]))
        return Parameter(name, kind, written, size, self.span(), resolved, initial=initial)

    def memory(self) -> MemoryObject:
        self.take(text="memory")
        name = self.take()
        self.take(text=":")
        space, element = self.take("name"), self.type()
        self.take(text="x")
        length = None if self.accept("?") else int(self.take("number"))
        flags: dict[str, Any] = {flag: True for flag in _FLAGS if self.accept(flag)}
        data = bytes.fromhex(self.take("hex")[2:]) if self.accept("=") else None
        attrs = tuple(self.attributes().items()) if self.accept("{") else ()
        return MemoryObject(name, space, element, length, data=data, attrs=attrs, span=self.span(), **flags)

    def operations(self, region: Region) -> None:
        while self.next.text not in ("}",):
            region.ops.append(self.operation())

    def operation(self) -> Op:
        results = []
        if self.next.kind == "value":
            results.append(self.define())
            while self.accept(","):
                results.append(self.define())
            self.take(text="=")
        opcode = self.take("name")
        if opcode not in OPS:
            self.place -= 1
            self.fail(f"unknown operation {opcode}")
        op = Op(opcode, self.operands())
        op.results = _owned(results, op)
        if self.next.text == "{" and not self._opens_region():
            self.take(text="{")
            op.attrs = self.attributes(results[0].type if results else None)
        op.span = self.span()
        if self.accept("{"):
            self.regions(op)
        return op

    def operands(self) -> list[Value]:
        found = []
        while self.next.kind == "value" and self.ahead(1) not in (":",):
            found.append(self.use())
            if not self.accept(","):
                break
        return found

    def _opens_region(self) -> bool:
        return self.ahead(2) != "="

    def regions(self, op: Op) -> None:
        while True:
            region = Region()
            if self.accept("("):
                region.args = _owned(self.items(self.define, ")"), region)
                self.take(text=":")
            self.operations(region)
            op.regions.append(region)
            self.take(text="}")
            if not self.accept("else"):
                return
            self.take(text="{")


def _owned(values: list[Value], owner) -> list[Value]:
    for k, value in enumerate(values):
        value.owner, value.index = owner, k
    return values
