"""The typed tree: a checked program in which every name is resolved and every conversion written out.

``hls.frontend.check`` builds it and reports all errors; ``hls.frontend.lower`` turns it into IR and cannot fail.
"""

from .effects import AsyncCopy, Atomic, Barrier, ChannelRead, ChannelSubscript, ChannelWrite, Fence, Print
from .expressions import (
    AddressOf,
    Assign,
    Binary,
    Build,
    Builtin,
    Call,
    Channel,
    Compare,
    Conditional,
    Const,
    Convert,
    ConvertExactly,
    Dereference,
    Expr,
    Lanes,
    Logical,
    LValue,
    Member,
    Null,
    Packed,
    PointerAdd,
    PointerCompare,
    PointerDistance,
    Reinterpret,
    Sequence,
    Step,
    Unary,
    UnionOf,
    Update,
    Variable,
    VariableRef,
    is_lvalue,
    root_of,
)
from .statements import (
    Block,
    Break,
    Continue,
    Declare,
    Entry,
    Evaluate,
    FunctionTree,
    Goto,
    If,
    Label,
    Loop,
    Return,
    Section,
    StatementExpr,
    Stmt,
    Switch,
    children,
)

__all__ = [
    "AddressOf", "Assign", "AsyncCopy", "Atomic", "Barrier", "Binary", "Block", "Break", "Build", "Builtin", "Call",
    "Channel", "ChannelRead", "ChannelSubscript", "ChannelWrite", "Compare", "Conditional", "Const", "Continue", "Convert",
    "ConvertExactly", "Declare", "Dereference", "Entry", "Evaluate", "Expr", "Fence", "FunctionTree", "Goto", "If", "LValue",
    "Label", "Lanes", "Logical", "Loop", "Member", "Null", "Packed", "PointerAdd", "PointerCompare",
    "PointerDistance", "Print", "Reinterpret", "Return", "Section", "Sequence", "StatementExpr", "Step", "Stmt", "Switch",
    "Unary", "UnionOf", "Update", "Variable", "VariableRef", "children", "is_lvalue", "root_of",
]
