"""How a host program names a board of hardware: SLUICE_DEVICE=uart:PORT or eth:HOST."""

__all__ = ["ETHERNET", "LINKS", "LINK_FORMS", "SERIAL", "is_link"]

SERIAL, ETHERNET = "uart:", "eth:"
LINKS = (SERIAL, ETHERNET)
#: for messages
LINK_FORMS = "uart:PORT for a board at a serial port, or eth:HOST for one in the network"


def is_link(device: str) -> bool:
    """Whether this names a board of hardware, with something behind the prefix."""
    return any(device.startswith(link) and device != link for link in LINKS)
