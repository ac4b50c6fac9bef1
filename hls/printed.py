"""What the streams of a system carry for printf."""

from dataclasses import replace

from .ir import Module
from .ir.printing import places_of
from .passes.link.link_printf import console_of, printed_formats
from .rtl.interface import FormatInterface, SystemInterface

__all__ = ["with_printing"]


def with_printing(interface: SystemInterface, module: Module) -> SystemInterface:
    """The interface of a system with the formats of what the kernels of its linked program print."""
    printing = {console_of(kernel): kernel.name for kernel in module.kernels if console_of(kernel) is not None}
    formats = tuple(FormatInterface(one.text, tuple(map(str, one.types))) for one in printed_formats(module))
    streams = [
        replace(one, formats=formats, prints_for=printing[one.channel], places=places_of(module.channels[one.channel]))
        if one.channel in printing
        else one
        for one in interface.streams
    ]
    return replace(interface, streams=tuple(streams))
