"""Converts expressions of the syntax tree to typed ones, with C's implicit conversions made explicit."""

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..predefined import PREDEFINED
from . import tree as tt
from . import types as ct
from .check_pointers import COMPARES, PointerOperators, index_hint, is_null, place_of
from .check_suspicious import constant_comparison, unused_result
from .check_types_of import OF_TYPES
from .constants import literal, unescaped
from .evaluate import constant
from .foreign_words import foreign_hint
from .layout import has_pointer, split_pointer
from .lexer import Word
from .parse import Syntax
from .scope import EnumConstant, TypeName

__all__ = ["ValueChecker", "number_hint"]

_INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")


class ValueChecker(PointerOperators):
    """Checks expressions of ``self.function``. The result of ``expression`` may still be an lvalue; that of ``rvalue``
    is not."""

    function: tt.FunctionTree | None = None
    single_precision = False  #: unsuffixed floating constants are float

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self._texts: dict[bytes, tt.Variable] = {}  #: tables of string literals, by their characters
        #: constants that are declared extern and not defined so far, and where each is used first
        self.externals: dict[tt.Variable, Span | None] = {}

    # -- entry points

    def expression(self, node: c_ast.Node) -> tt.Expr:
        """The typed expression of a node, possibly an lvalue. Raises CompileError for what is not OpenCL C."""
        check = getattr(self, f"_expr_{type(node).__name__.lower()}", None)
        if check is None:
            raise CompileError.at(self.span(node), "this is not an expression of OpenCL C", code=Code.SYNTAX)
        return check(node)

    def rvalue(self, node: c_ast.Node) -> tt.Expr:
        """The value of an expression: an array becomes a pointer to its first element."""
        return self.decayed(self.expression(node))

    def decayed(self, e: tt.Expr) -> tt.Expr:
        """Arrays become pointers to their first element, and variables of a known value that value."""
        if isinstance(e, tt.VariableRef) and e.variable.value is not None:
            return replace(e.variable.value, span=e.span)
        if not isinstance(e.type, ct.Array):
            return e
        if not tt.is_lvalue(e):
            return self._placed(e)
        root = tt.root_of(e)
        if isinstance(root, tt.VariableRef) and root.variable.kind == "parameter":
            root.variable.written = True  # its elements need an address
        return tt.AddressOf(ct.Pointer(e.type.element, *place_of(e)), e.span, e)

    def _placed(self, e: tt.Expr) -> tt.Expr:
        """The address of an array in a struct that is an rvalue, or of a compound literal: it is stored in a new
        variable."""
        value, members = e, []
        while isinstance(value, tt.Member):
            value, members = value.base, [value, *members]
        variable = tt.Variable(f"'{value.type}'", value.type, "local", e.span)
        place: tt.Expr = tt.VariableRef(value.type, e.span, variable)
        for member in members:
            place = replace(member, base=place)
        stored = tt.Block(e.span, (tt.Declare(e.span, variable, ((0, value),)),))
        address = (
            self.decayed(place)
            if isinstance(place.type, ct.Array)
            else tt.AddressOf(ct.Pointer(place.type, *place_of(place)), e.span, place)
        )
        return tt.StatementExpr(address.type, e.span, stored, address)

    def number(self, node: c_ast.Node, what: str) -> tt.Expr:
        """An rvalue that must be an integer or a float."""
        e = self.rvalue(node)
        if not ct.arithmetic(e.type):
            raise CompileError.at(
                e.span, f"{what} must be a number, not '{e.type}'", number_hint(e.type), code=Code.OPERAND_TYPES
            )
        return e

    def condition(self, node: c_ast.Node) -> tt.Expr:
        """The expression as a condition. Raises CompileError if it has no number's type."""
        e = self.truth(self.rvalue(node))
        if not ct.arithmetic(e.type):
            raise CompileError.at(
                e.span, f"a condition must be a number, not '{e.type}'", number_hint(e.type), code=Code.OPERAND_TYPES
            )
        return e

    @staticmethod
    def truth(e: tt.Expr) -> tt.Expr:
        """For a pointer used as a truth value, whether it is not null."""
        if not isinstance(e.type, ct.Pointer):
            return e
        return tt.PointerCompare(ct.INT, e.span, "!=", e, tt.Null(e.type, e.span))

    @staticmethod
    def folded(e: tt.Expr) -> tt.Expr:
        """The expression, as a constant if it is one."""
        return constant(e) or e

    def constant_int(self, node: c_ast.Node, what: str, hint: str = "") -> int:
        """The value of a constant integer expression."""
        e = self.rvalue(node)
        value = constant(e)
        if value is None or not ct.integer(value.type):
            raise CompileError.at(e.span, f"{what} must be a constant integer", hint, code=Code.CONSTANT_NEEDED)
        t = value.type
        return value.value - (1 << t.bits if t.signed and value.value >> t.bits - 1 else 0)

    # -- primary

    def _expr_constant(self, node):
        if node.type == "string":
            return self._text(unescaped(str(node.value)[1:-1], self.span(node)) + b"\0", self.span(node))
        value, changed = literal(node.value, node.type, self.span(node), self.doubles)
        if changed and value.type == ct.ULONG:
            self.warn(
                value.span,
                f"the decimal constant {node.value} does not fit a long, and is treated as ulong",
                f"write {node.value.rstrip('lL')}UL",
                code=Code.DECIMAL_AS_ULONG,
            )
        elif changed and not self.single_precision:
            self.warn(
                value.span,
                f"the double constant {node.value} is treated as float",
                f"write {node.value.rstrip('lL')}f",
                code=Code.DOUBLE_AS_FLOAT,
            )
        return value

    def _text(self, data: bytes, span: Span) -> tt.Expr:
        """A string literal: a table of characters in constant memory, one for all literals of the same text."""
        if data not in self._texts:
            t = ct.Array(ct.CHAR, len(data))
            self._texts[data] = variable = tt.Variable("text", t, "constant", span, const=True, data=data)
            self.constants.append(variable)
        variable = self._texts[data]
        return tt.VariableRef(variable.type, span, variable)

    def _expr_id(self, node):
        name, span = str(node.name), self.span(node)
        meaning = self.find(name, span)
        if isinstance(meaning, EnumConstant):
            return tt.Const(meaning.type, span, meaning.value & (1 << meaning.type.bits) - 1)
        if isinstance(meaning, tt.Variable):
            if meaning in self.externals:
                self.externals[meaning] = self.externals[meaning] or span
            if meaning.kind == "program" and self.function is not None:
                self.function.program_variables[meaning] = None
            return tt.VariableRef(meaning.type, span, meaning)
        if isinstance(meaning, tt.FunctionTree):
            raise CompileError.at(
                span, "function pointers are not supported", f"call {name}(...)", code=Code.FUNCTION_POINTER
            )
        if isinstance(meaning, TypeName):
            raise CompileError.at(span, f"'{name}' is a type, not a value", code=Code.UNKNOWN_TYPE)
        if isinstance(meaning, tt.Channel):
            raise CompileError.at(
                span, f"'{name}' is a channel, not a value", f"write read_channel_intel({name})", code=Code.CHANNEL_CALL
            )
        raise CompileError.at(
            span,
            f"'{name}' is not declared",
            foreign_hint(name) or self.similar(name, filter(str.isidentifier, PREDEFINED)),
            code=Code.UNDECLARED,
        )

    def _expr_exprlist(self, node):
        *firsts, last = node.exprs
        effects = [self.rvalue(n) for n in firsts]
        for effect in effects:
            unused_result(self, effect)
        return self.after(effects, self.rvalue(last))

    @staticmethod
    def after(effects: Sequence[tt.Expr], result: tt.Expr) -> tt.Expr:
        """The result, evaluated after expressions that are there for their effects."""
        for effect in reversed(effects):
            result = tt.Sequence(result.type, effect.span, effect, result)
        return result

    # -- operators

    def _operator_span(self, node) -> Span:
        return node.op.span if isinstance(node.op, Word) else self.span(node)

    def _expr_unaryop(self, node):
        span = self._operator_span(node)
        if node.op in OF_TYPES:
            return self.of_type(node, span)
        if node.op in ("++", "--", "p++", "p--"):
            return self._increment(node, span)
        if node.op == "&":
            return self._address_of(node, span)
        e = self.rvalue(node.expr)
        if node.op == "*":
            return self.dereference(e, span)
        if node.op == "!":
            e = self.truth(e)
        if not ct.number(e.type):
            raise CompileError.at(
                span, f"'{node.op}' does not work on '{e.type}'", number_hint(e.type), code=Code.OPERAND_TYPES
            )
        if node.op == "!":
            return tt.Unary(ct.truth_of(e.type), span, "!", e)
        t = ct.promoted(e.type)
        if node.op == "~" and not ct.integer(ct.element_of(t)):
            raise CompileError.at(
                span,
                f"'~' does not work on '{e.type}'",
                "as_uint(x) gives the bits of a float",
                code=Code.OPERAND_TYPES,
            )
        e = self.convert(e, t)
        if node.op == "+":
            return e
        result = tt.Unary(t, span, str(node.op), e)
        return constant(result) if isinstance(e, tt.Const) else result

    def _address_of(self, node, span):
        e = self.expression(node.expr)
        literal = not tt.is_lvalue(e) and _is_literal(node.expr)
        if not tt.is_lvalue(e) and not literal:
            raise CompileError.at(span, "only a variable or an element has an address", code=Code.NO_ADDRESS)
        self._check_split(e, span)
        if isinstance(e, tt.Lanes):
            raise CompileError.at(
                span,
                "a component of a vector has no address",
                "copy it to a variable, or use an array",
                code=Code.NO_ADDRESS,
            )
        if literal:
            return self._placed(e)
        root = tt.root_of(e)
        if isinstance(root, tt.VariableRef):
            root.variable.written = True
        return tt.AddressOf(ct.Pointer(e.type, *place_of(e)), span, e)

    def _check_split(self, e: tt.Expr, span: Span) -> None:
        """Raise CompileError for the address of what has no bytes and no split pointer either."""
        t = _element(e.type)
        if split_pointer(t):
            raise CompileError.at(
                span,
                f"'{t}' points to a struct that holds pointers, so the address of such a pointer cannot be taken",
                "pass the pointer itself, or return the new one",
                code=Code.NO_ADDRESS,
            )
        if isinstance(t, ct.Struct) and has_pointer(t) and t.opaque:
            raise CompileError.at(
                span,
                f"'{t}' holds a pointer, and was used before its members were declared, so its address cannot be taken",
                "move its declaration above the functions and initial values that use it",
                code=Code.NO_ADDRESS,
            )
        if isinstance(t, ct.Struct) and has_pointer(t) and not split_pointer(ct.Pointer(t, "private")):
            raise CompileError.at(
                span,
                f"'{t}' holds a pointer that leads to another '{t}', so its address cannot be taken",
                "keep these structs in an array, and an index instead of the pointer",
                code=Code.NO_ADDRESS,
            )

    def _expr_arrayref(self, node):
        span = self.span(node)
        base, index = self.expression(node.name), self.rvalue(node.subscript)
        if isinstance(base.type, ct.Vector):
            return self._component(base, index, span)
        base = self.decayed(base)
        if isinstance(index.type, ct.Pointer) and ct.integer(base.type):
            base, index = index, base
        if not isinstance(base.type, ct.Pointer):
            raise CompileError.at(
                span, f"'{base.type}' is not a pointer or an array, so it cannot be indexed", code=Code.OPERAND_TYPES
            )
        return self.dereference(self._pointer_add(base, index, span), span)

    def _component(self, vector: tt.Expr, index: tt.Expr, span: Span) -> tt.Expr:
        """``v[i]``, an extension that other FPGA compilers support: component i."""
        t = vector.type
        if not ct.integer(index.type):
            raise CompileError.at(
                index.span,
                f"an index must be an integer, not '{index.type}'",
                index_hint(index.type),
                code=Code.OPERAND_TYPES,
            )
        number = constant(index)
        if number is not None:
            if not 0 <= number.value < t.length:
                raise CompileError.at(
                    index.span,
                    f"index {number.value} is outside '{t}', which has {t.length} components",
                    code=Code.INDEX_OUTSIDE,
                )
            lane = vector.lanes[number.value] if isinstance(vector, tt.Lanes) else number.value
            return tt.Lanes(t.element, span, vector.base if isinstance(vector, tt.Lanes) else vector, (lane,))
        if not tt.is_lvalue(vector) or isinstance(vector, tt.Lanes):
            raise CompileError.at(
                span,
                "only of a variable or an element can a component be chosen at run time",
                "assign the vector to a variable first",
                code=Code.OPERAND_TYPES,
            )
        root = tt.root_of(vector)
        if isinstance(root, tt.VariableRef):
            root.variable.written = True  # it needs an address
        place = place_of(vector)
        whole = tt.AddressOf(ct.Pointer(t, *place), span, vector)
        first = tt.Convert(ct.Pointer(t.element, *place), span, whole)
        return self.dereference(self._pointer_add(first, index, span), span)

    def _expr_binaryop(self, node):
        span, op = self._operator_span(node), str(node.op)
        left, right = self.rvalue(node.left), self.rvalue(node.right)
        if op in ("&&", "||"):
            left, right = self.truth(left), self.truth(right)
        if ct.Pointer in (type(left.type), type(right.type)):
            return self._pointer_operation(op, left, right, span)
        self.operands(op, left, right, span)
        if op in ("<<", ">>"):
            return self.shift(op, left, right, span)
        t = self.common(left, right, span, op)
        constant_comparison(self, node, left, right, span)
        left, right = self.convert(left, t), self.convert(right, t)
        if op in ("&&", "||"):
            return tt.Logical(ct.truth_of(t), span, op, left, right)
        if op in COMPARES:
            return tt.Compare(ct.truth_of(t), span, op, left, right)
        self._check_division(op, right, span)
        return tt.Binary(t, span, op, left, right)

    def common(self, left: tt.Expr, right: tt.Expr, span: Span, op: str) -> ct.CType:
        """The type in which the operation is computed; a scalar combined with a vector gets the vector's type."""
        a, b = left.type, right.type
        if not isinstance(a, ct.Vector) and not isinstance(b, ct.Vector):
            return ct.common(a, b)
        vector, other = (a, b) if isinstance(a, ct.Vector) else (b, a)
        if isinstance(other, ct.Vector) and a != b:
            raise CompileError.at(
                span,
                f"'{op}' takes two vectors of one type, not '{a}' and '{b}'",
                f"write convert_{a}(...) around the second" if a.length == getattr(b, "length", 0) else "",
                code=Code.OPERAND_TYPES,
            )
        if isinstance(other, ct.Float) and ct.integer(vector.element):
            raise CompileError.at(
                span,
                f"'{op}' does not work on '{a}' and '{b}'",
                "convert the vector with convert_floatN, or the scalar with a cast",
                code=Code.OPERAND_TYPES,
            )
        return vector

    def operands(self, op: str, left: tt.Expr, right: tt.Expr, span: Span) -> None:
        """Check that both are numbers, and integers where the operator requires them."""
        for e in (left, right):
            if not ct.number(e.type):
                raise CompileError.at(
                    span, f"'{op}' does not work on '{e.type}'", number_hint(e.type), code=Code.OPERAND_TYPES
                )
            if op in _INTEGER_ONLY and not ct.integer(ct.element_of(e.type)):
                hint = "write fmod(x, y)" if op == "%" else "convert to an integer first"
                raise CompileError.at(span, f"'{op}' does not work on '{e.type}'", hint, code=Code.OPERAND_TYPES)

    def shift(self, op: str, left: tt.Expr, right: tt.Expr, span: Span) -> tt.Expr:
        """``left`` shifted by ``right``. A warning for a constant amount that is not below the width; CompileError
        for vectors of different lengths."""
        t = ct.promoted(left.type)
        amount = constant(right)
        bits = ct.element_of(t).bits
        if amount is not None and amount.value >= bits:
            exact = isinstance(t, ct.Int) and t.exact
            self.warn(
                right.span,
                f"the shift amount is not below {bits}: {'nothing is left' if exact else 'only its low bits count'}",
                f"cast what is shifted to {'uint' if amount.value < 32 else 'ulong'} first" if exact else "",
                code=Code.SHIFT_AMOUNT,
            )
        if isinstance(right.type, ct.Vector) and (not isinstance(t, ct.Vector) or t.length != right.type.length):
            raise CompileError.at(
                span,
                f"'{left.type}' cannot be shifted by '{right.type}'",
                "both must be as long",
                code=Code.OPERAND_TYPES,
            )
        right = self.convert(right, ct.with_element(t, ct.promoted(ct.element_of(right.type))))
        return tt.Binary(t, span, op, self.convert(left, t), right)

    def _check_division(self, op, right, span) -> None:
        if op in ("/", "%") and ct.integer(ct.element_of(right.type)):
            divisor = constant(right)
            if divisor is not None and divisor.value == 0:
                self.warn(span, "this divides by zero", code=Code.DIVIDES_BY_ZERO)

    def _expr_ternaryop(self, node):
        condition = self.truth(self.rvalue(node.cond))
        if not ct.number(condition.type):
            condition = self.condition(node.cond)
        then, otherwise = self.rvalue(node.iftrue), self.rvalue(node.iffalse)
        a, b = then.type, otherwise.type
        if isinstance(condition.type, ct.Vector):
            return self._vector_choice(condition, then, otherwise)
        if isinstance(a, ct.Struct) and a == b:
            return tt.Conditional(a, condition.span, condition, then, otherwise)
        if ct.number(a) and ct.number(b):
            t = a if a == b else self.common(then, otherwise, condition.span, "?:")
            return tt.Conditional(t, condition.span, condition, self.convert(then, t), self.convert(otherwise, t))
        if isinstance(a, ct.Pointer) and is_null(otherwise):
            return tt.Conditional(a, condition.span, condition, then, tt.Null(a, otherwise.span))
        if isinstance(b, ct.Pointer) and is_null(then):
            return tt.Conditional(b, condition.span, condition, tt.Null(b, then.span), otherwise)
        if isinstance(a, ct.Pointer) and isinstance(b, ct.Pointer):
            space = a.space if a.space == b.space else "private" if "private" in (a.space, b.space) else a.space
            t = replace(a, space=space, const=a.const or b.const, volatile=a.volatile or b.volatile, restrict=False)
            otherwise = self._pointer_assignable(otherwise, t, "the second choice")
            return tt.Conditional(t, condition.span, condition, tt.Convert(t, then.span, then), otherwise)
        if isinstance(a, ct.Void) and isinstance(b, ct.Void):
            return tt.Conditional(ct.VOID, condition.span, condition, then, otherwise)
        raise CompileError.at(
            condition.span, f"the two values of '?:' do not fit together: '{a}' and '{b}'", code=Code.OPERAND_TYPES
        )

    def _vector_choice(self, condition, then, otherwise):
        """Component by component: the second value where the condition's highest bit is set, else the third."""
        span, c = condition.span, condition.type
        for e in (then, otherwise):
            if not ct.number(e.type):
                raise CompileError.at(
                    e.span, f"'?:' with a vector as its condition cannot choose '{e.type}'", code=Code.OPERAND_TYPES
                )
        t = then.type if then.type == otherwise.type else self.common(then, otherwise, span, "?:")
        t = t if isinstance(t, ct.Vector) else ct.Vector(t, c.length)
        if not ct.integer(c.element) or t.length != c.length or t.element.size != c.element.size:
            raise CompileError.at(
                span,
                f"a condition of type '{c}' cannot choose '{t}'",
                f"the condition must be '{ct.mask_of(t)}'",
                code=Code.OPERAND_TYPES,
            )
        return tt.Conditional(t, span, condition, self.convert(then, t), self.convert(otherwise, t))


def _is_literal(node) -> bool:
    """Whether it is ``(T){...}`` or a member of one."""
    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    return isinstance(node, c_ast.CompoundLiteral)


def _element(t: ct.CType) -> ct.CType:
    """The innermost element type of an array, whatever its dimensions; another type is its own element."""
    return t.scalar if isinstance(t, ct.Array) else t


def number_hint(t: ct.CType) -> str:
    """The hint where a number is needed."""
    if isinstance(t, ct.Vector):
        return "name a component, or use any(...) or all(...) for a condition"
    if isinstance(t, ct.Struct):
        return "name one of its members"
    return "index it to get an element" if isinstance(t, ct.Pointer) else ""
