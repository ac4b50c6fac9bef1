"""Expressions of the syntax tree to typed ones, with C's conversions written out."""

from dataclasses import replace

from pycparser import c_ast

from ..diag import CompileError, Span
from . import tree as tt
from . import types as ct
from .check_types import TypeChecker
from .constants import literal
from .evaluate import constant
from .lexer import Word
from .scope import EnumConstant, TypeName

__all__ = ["ValueChecker"]

_COMPARES = ("==", "!=", "<", "<=", ">", ">=")
_INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")


class ValueChecker(TypeChecker):
    """Checks expressions of ``self.function``. An ``expression`` may still be an lvalue; an ``rvalue`` is not."""

    function: tt.FunctionTree | None = None
    single_precision = False  #: unsuffixed floating constants are meant as float

    # -- entry points

    def expression(self, node) -> tt.Expr:
        check = getattr(self, f"_expr_{type(node).__name__.lower()}", None)
        if check is None:
            raise CompileError.at(self.span(node), "this is not an expression of OpenCL C")
        return check(node)

    def rvalue(self, node) -> tt.Expr:
        """The value of an expression: an array becomes a pointer to its first element."""
        return self.decayed(self.expression(node))

    def decayed(self, e: tt.Expr) -> tt.Expr:
        if isinstance(e, tt.VariableRef) and e.variable.value is not None:
            return replace(e.variable.value, span=e.span)
        if not isinstance(e.type, ct.Array):
            return e
        return tt.AddressOf(ct.Pointer(e.type.element, *place_of(e)), e.span, e)

    def number(self, node, what: str) -> tt.Expr:
        """An rvalue that must be an integer or a float."""
        e = self.rvalue(node)
        if not ct.arithmetic(e.type):
            raise CompileError.at(e.span, f"{what} must be a number, not '{e.type}'", _number_hint(e.type))
        return e

    def condition(self, node) -> tt.Expr:
        return self.number(node, "a condition")

    def constant_int(self, node, what: str, hint: str = "") -> int:
        """The value of a constant integer expression."""
        e = self.rvalue(node)
        value = constant(e)
        if value is None or not ct.integer(value.type):
            raise CompileError.at(e.span, f"{what} must be a constant integer", hint)
        t = value.type
        return value.value - (1 << t.bits if t.signed and value.value >> t.bits - 1 else 0)

    # -- conversions

    def convert(self, e: tt.Expr, t: ct.CType) -> tt.Expr:
        """A number as another number type."""
        if e.type == t:
            return e
        converted = tt.Convert(t, e.span, e)
        return constant(converted) if isinstance(e, tt.Const) else converted

    def assignable(self, e: tt.Expr, t: ct.CType, role: str) -> tt.Expr:
        """``e`` converted to ``t`` as by an assignment; ``role`` says what ``e`` is ("the argument for 'x'")."""
        if ct.arithmetic(t) and ct.arithmetic(e.type):
            return self.convert(e, t)
        if isinstance(t, ct.Pointer) and isinstance(e.type, ct.Pointer):
            return self._pointer_assignable(e, t, role)
        if isinstance(e.type, ct.Void):
            raise CompileError.at(e.span, f"{role} is void: there is no value", f"'{t}' is needed here")
        hint = "take its address with &" if isinstance(t, ct.Pointer) and not isinstance(e, tt.Const) else ""
        raise CompileError.at(e.span, f"{role} is '{e.type}', not '{t}'", hint)

    def _pointer_assignable(self, e, t, role):
        source = e.type
        if source.space != t.space:
            wanted = replace(t, space=source.space, const=source.const, restrict=False)
            raise CompileError.at(e.span, f"{role} points to __{source.space} memory, not to __{t.space}",
                                  f"declare the other side as '{wanted}'")
        if source.pointee != t.pointee:
            raise CompileError.at(e.span, f"{role} is '{source}', not '{t}'", "the types they point to differ")
        if source.const and not t.const:
            raise CompileError.at(e.span, f"{role} is '{source}', not '{t}': const would be lost",
                                  "declare the other side const as well")
        return e if source == t else tt.Convert(t, e.span, e)

    # -- primary

    def _expr_constant(self, node):
        value, double = literal(node.value, node.type, self.span(node), self.doubles)
        if double and not self.single_precision:
            self.warn(value.span, f"the double constant {node.value} is taken as float",
                      f"write {node.value.rstrip('lL')}f")
        return value

    def _expr_id(self, node):
        name, span = str(node.name), self.span(node)
        meaning = self.find(name)
        if isinstance(meaning, EnumConstant):
            return tt.Const(meaning.type, span, meaning.value & 0xFFFFFFFF)
        if isinstance(meaning, tt.Variable):
            return tt.VariableRef(meaning.type, span, meaning)
        if isinstance(meaning, tt.FunctionTree):
            raise CompileError.at(span, "function pointers are not supported", f"call {name}(...)")
        if isinstance(meaning, TypeName):
            raise CompileError.at(span, f"'{name}' is a type, not a value")
        raise CompileError.at(span, f"'{name}' is not declared", self.similar(name))

    def _expr_exprlist(self, node):
        *firsts, last = node.exprs
        effects = [self.rvalue(n) for n in firsts]
        result = self.rvalue(last)
        for effect in reversed(effects):
            result = tt.Sequence(result.type, effect.span, effect, result)
        return result

    def _expr_cast(self, node):
        span = self.span(node)
        declared = self.declared(node.to_type, span)
        target, e = declared.type, self.rvalue(node.expr)
        if isinstance(target, ct.Void):
            return tt.Convert(target, span, e)
        if ct.arithmetic(target) and ct.arithmetic(e.type):
            return replace(self.convert(e, target), span=span)
        if isinstance(target, ct.Pointer) and isinstance(e.type, ct.Pointer):
            return self._pointer_cast(e, target, span)
        raise CompileError.at(span, f"cannot cast '{e.type}' to '{target}'",
                              "addresses are not numbers here" if ct.Pointer in (type(target), type(e.type)) else "")

    def _pointer_cast(self, e, target, span):
        if e.type.space != target.space:
            raise CompileError.at(span, f"a cast cannot move a pointer from __{e.type.space} to __{target.space} memory",
                                  f"write __{e.type.space} in the cast")
        if e.type.pointee != target.pointee and target.space == "private":
            raise CompileError.at(span, "a private variable cannot be read as another type by a cast of its address",
                                  "convert the value with as_type(...)")
        return tt.Convert(target, span, e)

    def _expr_compoundliteral(self, node):
        raise CompileError.at(self.span(node), "compound literals are not supported", "declare a variable")

    def _expr_structref(self, node):
        e = self.rvalue(node.name)
        hint = "vector types are not built yet" if ct.arithmetic(e.type) else "structs are not built yet"
        raise CompileError.at(self.span(node.field), f"'{e.type}' has no member '{node.field.name}'", hint)

    # -- operators

    def _operator_span(self, node) -> Span:
        return node.op.span if isinstance(node.op, Word) else self.span(node)

    def _expr_unaryop(self, node):
        span = self._operator_span(node)
        if node.op == "sizeof":
            return self._sizeof(node, span)
        if node.op in ("++", "--", "p++", "p--"):
            return self._increment(node, span)
        if node.op == "&":
            return self._address_of(node, span)
        e = self.rvalue(node.expr)
        if node.op == "*":
            return self.dereference(e, span)
        if not ct.arithmetic(e.type):
            raise CompileError.at(span, f"'{node.op}' does not work on '{e.type}'", _number_hint(e.type))
        if node.op == "!":
            return tt.Unary(ct.INT, span, "!", e)
        t = ct.promoted(e.type)
        if node.op == "~" and not ct.integer(t):
            raise CompileError.at(span, f"'~' does not work on '{e.type}'", "as_uint(x) gives the bits of a float")
        e = self.convert(e, t)
        if node.op == "+":
            return e
        result = tt.Unary(t, span, str(node.op), e)
        return constant(result) if isinstance(e, tt.Const) else result

    def _sizeof(self, node, span):
        if isinstance(node.expr, c_ast.Typename):
            t = self.declared(node.expr, span).type
        else:
            t = self.expression(node.expr).type
        if isinstance(t, ct.Void):
            raise CompileError.at(span, "void has no size")
        return tt.Const(ct.ULONG, span, t.size)

    def _address_of(self, node, span):
        e = self.expression(node.expr)
        if not isinstance(e, tt.LValue):
            raise CompileError.at(span, "only a variable or an element has an address")
        if isinstance(e.type, ct.Pointer):
            raise CompileError.at(span, "pointers to pointers are not supported", "use an index into one buffer")
        if isinstance(e, tt.VariableRef):
            e.variable.written = True
        return tt.AddressOf(ct.Pointer(e.type, *place_of(e)), span, e)

    def dereference(self, e: tt.Expr, span: Span) -> tt.Expr:
        if not isinstance(e.type, ct.Pointer):
            raise CompileError.at(span, f"'{e.type}' is not a pointer or an array", "")
        return tt.Dereference(e.type.pointee, span, e)

    def _expr_arrayref(self, node):
        span = self.span(node)
        base, index = self.rvalue(node.name), self.rvalue(node.subscript)
        if isinstance(index.type, ct.Pointer) and ct.integer(base.type):
            base, index = index, base
        if not isinstance(base.type, ct.Pointer):
            raise CompileError.at(span, f"'{base.type}' is not a pointer or an array, so it cannot be indexed")
        return self.dereference(self._pointer_add(base, index, span), span)

    def _pointer_add(self, pointer, index, span, subtract=False):
        if not ct.integer(index.type):
            raise CompileError.at(index.span, f"an index must be an integer, not '{index.type}'", _index_hint(index.type))
        self._check_bound(pointer, index, subtract)
        if index.type.bits < 32:
            index = self.convert(index, ct.INT)
        return tt.PointerAdd(pointer.type, span, pointer, index, subtract)

    def _check_bound(self, pointer, index, subtract):
        """A constant index outside an array of known length is never meant."""
        target = pointer.target if isinstance(pointer, tt.AddressOf) else None
        if target is None or not isinstance(target.type, ct.Array) or subtract or not isinstance(index, tt.Const):
            return
        signed = index.value - (1 << index.type.bits if index.type.signed and index.value >> index.type.bits - 1 else 0)
        if not 0 <= signed <= target.type.length:
            raise CompileError.at(index.span, f"index {signed} is outside the array, which has {target.type.length} elements")

    def _expr_binaryop(self, node):
        span, op = self._operator_span(node), str(node.op)
        left, right = self.rvalue(node.left), self.rvalue(node.right)
        if ct.Pointer in (type(left.type), type(right.type)):
            return self._pointer_operation(op, left, right, span)
        self.operands(op, left, right, span)
        if op in ("&&", "||"):
            return tt.Logical(ct.INT, span, op, left, right)
        if op in ("<<", ">>"):
            return self.shift(op, left, right, span)
        t = ct.common(left.type, right.type)
        left, right = self.convert(left, t), self.convert(right, t)
        if op in _COMPARES:
            return tt.Compare(ct.INT, span, op, left, right)
        self._check_division(op, right, span)
        return tt.Binary(t, span, op, left, right)

    def operands(self, op: str, left: tt.Expr, right: tt.Expr, span: Span):
        """Both must be numbers, and integers where the operator needs them."""
        for e in (left, right):
            if not ct.arithmetic(e.type):
                raise CompileError.at(span, f"'{op}' does not work on '{e.type}'", _number_hint(e.type))
            if op in _INTEGER_ONLY and not ct.integer(e.type):
                hint = "fmod is not built yet: x - y * (int)(x / y)" if op == "%" else "convert to an integer first"
                raise CompileError.at(span, f"'{op}' does not work on '{e.type}'", hint)

    def shift(self, op: str, left: tt.Expr, right: tt.Expr, span: Span) -> tt.Expr:
        t = ct.promoted(left.type)
        amount = constant(right)
        if amount is not None and amount.value >= t.bits:
            self.warn(right.span, f"the shift amount is not below {t.bits}: only its low bits count")
        return tt.Binary(t, span, op, self.convert(left, t), self.convert(right, ct.promoted(right.type)))

    def _check_division(self, op, right, span):
        if op in ("/", "%") and ct.integer(right.type):
            divisor = constant(right)
            if divisor is not None and divisor.value == 0:
                self.warn(span, "this divides by zero")

    def _pointer_operation(self, op, left, right, span):
        if op in ("+", "-") and isinstance(left.type, ct.Pointer) and ct.integer(right.type):
            return self._pointer_add(left, right, span, op == "-")
        if op == "+" and isinstance(right.type, ct.Pointer) and ct.integer(left.type):
            return self._pointer_add(right, left, span)
        if op == "-" or op in _COMPARES:
            raise CompileError.at(span, "pointers cannot be compared or subtracted", "keep the index beside the pointer")
        raise CompileError.at(span, f"'{op}' does not work on '{left.type}' and '{right.type}'")

    def _expr_ternaryop(self, node):
        condition = self.condition(node.cond)
        then, otherwise = self.rvalue(node.iftrue), self.rvalue(node.iffalse)
        a, b = then.type, otherwise.type
        if ct.arithmetic(a) and ct.arithmetic(b):
            t = a if a == b else ct.common(a, b)
            return tt.Conditional(t, condition.span, condition, self.convert(then, t), self.convert(otherwise, t))
        if isinstance(a, ct.Pointer) and isinstance(b, ct.Pointer):
            t = replace(a, const=a.const or b.const, volatile=a.volatile or b.volatile, restrict=False)
            otherwise = self._pointer_assignable(otherwise, t, "the second choice")
            return tt.Conditional(t, condition.span, condition, tt.Convert(t, then.span, then), otherwise)
        if isinstance(a, ct.Void) and isinstance(b, ct.Void):
            return tt.Conditional(ct.VOID, condition.span, condition, then, otherwise)
        raise CompileError.at(condition.span, f"the two values of '?:' do not fit together: '{a}' and '{b}'")

    # -- assignment

    def _expr_assignment(self, node):
        span = self._operator_span(node)
        target = self.writable(self.expression(node.lvalue), span)
        value = self.rvalue(node.rvalue)
        t = target.type
        if node.op == "=":
            return tt.Assign(t, span, target, self.assignable(value, t, "the assigned value"))
        op = str(node.op)[:-1]
        if isinstance(t, ct.Pointer):
            return self._step(target, op, value, span)
        self.operands(op, target, value, span)
        if op in ("<<", ">>"):
            amount = self.shift(op, target, value, span).right
            return tt.Update(t, span, target, op, amount, ct.promoted(t))
        compute = ct.common(t, value.type)
        value = self.convert(value, compute)
        self._check_division(op, value, span)
        return tt.Update(t, span, target, op, value, compute)

    def _step(self, target, op, index, span, postfix=False):
        if op not in ("+", "-") or not ct.integer(index.type):
            raise CompileError.at(span, f"'{op}=' does not work on '{target.type}' and '{index.type}'")
        if index.type.bits < 32:
            index = self.convert(index, ct.INT)
        return tt.Step(target.type, span, target, index, op == "-", postfix)

    def _increment(self, node, span):
        target = self.writable(self.expression(node.expr), span)
        op, postfix, t = str(node.op)[-1], node.op.startswith("p"), target.type
        if isinstance(t, ct.Pointer):
            return self._step(target, op, tt.Const(ct.INT, span, 1), span, postfix)
        compute = ct.common(t, ct.INT)
        one = tt.Const(compute, span, 1.0 if isinstance(compute, ct.Float) else 1)
        return tt.Update(t, span, target, op, one, compute, postfix)

    def writable(self, e: tt.Expr, span: Span) -> tt.LValue:
        """``e`` as the target of an assignment."""
        if not isinstance(e, tt.LValue):
            raise CompileError.at(span, "this cannot be assigned to", "the left side must be a variable or an element")
        if isinstance(e.type, ct.Array):
            raise CompileError.at(span, "an array cannot be assigned as a whole", "assign its elements in a loop")
        space, const, _ = place_of(e)
        if const or space == "constant":
            name = f"'{e.variable.name}'" if isinstance(e, tt.VariableRef) else "this element"
            raise CompileError.at(span, f"{name} is const", "remove const, or write into another variable")
        if isinstance(e, tt.VariableRef):
            e.variable.written = True
        return e


def place_of(e: tt.LValue) -> tuple[str, bool, bool]:
    """(address space, const, volatile) of where an lvalue is."""
    if isinstance(e, tt.VariableRef):
        v = e.variable
        return ("constant" if v.kind == "constant" else "private"), v.const, v.volatile
    if isinstance(e, tt.Dereference):
        t = e.pointer.type
        return t.space, t.const, t.volatile
    raise CompileError.at(e.span, "this array has no place in memory")


def _number_hint(t: ct.CType) -> str:
    return "index it to get an element" if isinstance(t, ct.Pointer) else ""


def _index_hint(t: ct.CType) -> str:
    return "write (int)x" if isinstance(t, ct.Float) else ""
