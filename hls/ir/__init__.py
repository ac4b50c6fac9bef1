"""The intermediate representation: types, the op table, nodes, builder, printer."""

from .accesses import fixed_operands, is_access, lane_mask, memory_name, moved_type, predicate, reaches_memory
from .build import Builder, uses, walk
from .nodes import Function, MemoryObject, Module, Op, Parameter, Region, Value
from .optable import OPS, OpInfo, evaluate, has
from .printer import print_function, print_module
from .types import (
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    PTR,
    TOKEN,
    ArrayType,
    FloatType,
    IntType,
    PointerType,
    TokenType,
    Type,
)

__all__ = [
    "BOOL", "F16", "F32", "F64", "I8", "I16", "I32", "I64", "OPS", "PTR", "TOKEN", "ArrayType", "Builder", "FloatType", "Function",
    "IntType", "MemoryObject", "Module", "Op", "OpInfo", "Parameter", "PointerType", "Region", "TokenType", "Type",
    "Value", "evaluate", "fixed_operands", "has", "is_access", "lane_mask", "memory_name", "moved_type", "predicate",
    "print_function", "print_module", "reaches_memory", "uses", "walk",
]
