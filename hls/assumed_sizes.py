"""Sizes that build options say where kernels say nothing: of the largest work-group, and of local memory arguments."""

from dataclasses import replace

from .ir import Attr, Function, Module, walk
from .options import Options

__all__ = ["assume_sizes"]


def assume_sizes(module: Module, options: Options) -> None:
    """Give kernels without ``max_work_group_size`` or ``local_mem_size`` those of the options, in place.

    Kernels of a program without barriers take groups of any size, and stay as they are.
    """
    if options.group_items and any(
        op.opcode == "barrier" for one in module.functions.values() for op in walk(one.body)
    ):
        for function in module.kernels:
            if not {Attr.WORK_GROUP_SIZE, Attr.MAX_WORK_GROUP_SIZE} & function.attrs.keys():
                function.attrs[Attr.MAX_WORK_GROUP_SIZE] = options.group_items
    if options.local_bytes:
        for function in module.kernels:
            _bound_arguments(function, options.local_bytes)


def _bound_arguments(function: Function, most: int) -> None:
    """Let each local memory argument that has no limit of its own have ``most`` bytes."""
    for parameter in function.params:
        memory = function.memories.get(parameter.name)
        if parameter.kind == "local" and memory is not None and Attr.LOCAL_MEM_SIZE not in dict(memory.attrs):
            function.memories[parameter.name] = replace(memory, attrs=(*memory.attrs, (Attr.LOCAL_MEM_SIZE, most)))
