"""How deep channels are on the emulator: as hardware, or by one of the models that the vendor's emulator has."""

from collections.abc import Mapping
from dataclasses import replace

from hls.ir import Attr, Module

__all__ = ["DEPTH_MODELS", "HARDWARE", "with_depths"]

#: the depths in the program, and those of hardware when no kernel can continue
HARDWARE = "hardware"
#: deeper than what any kernel writes before another one reads
DEEP = 1 << 16
#: model -> (depth of a channel whose declaration has none, whether all channels have that depth)
_MODELS: Mapping[str, tuple[int, bool]] = {"strict": (1, False), "default": (DEEP, False), "ignore-depth": (DEEP, True)}
DEPTH_MODELS = (HARDWARE, *_MODELS)


def with_depths(module: Module, model: str) -> Module:
    """The program with the depths of a model of :data:`DEPTH_MODELS` as if they were written there: ``strict`` has a
    depth of 1 where none is written, ``default`` a large one, and ``ignore-depth`` a large one everywhere."""
    if model == HARDWARE:
        return module
    usual, everywhere = _MODELS[model]
    channels = {}
    for name, channel in module.channels.items():
        attrs = dict(channel.attrs)
        if everywhere or Attr.CHANNEL_DEPTH not in attrs:
            attrs[Attr.CHANNEL_DEPTH] = usual
        channels[name] = replace(channel, attrs=tuple(attrs.items()))
    return Module(module.functions, module.sources, channels)
