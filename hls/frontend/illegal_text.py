"""What is wrong with text that is no token of OpenCL C: a comment or quote without end, or a foreign character."""

import unicodedata

__all__ = ["illegal_text"]

#: a byte that is no UTF-8 stands in the text as one of these characters (see included)
_BYTES = range(0xDC00, 0xDD00)
#: pages and word processors put these in place of the characters of C
_MEANT = {"Pd": "-", "Sm": "an operator of C", "Pi": "a quote \" or '", "Pf": "a quote \" or '", "Zs": "a blank"}


def illegal_text(message: str, rest: str) -> tuple[str, str]:
    """What is wrong where the text ``rest`` begins, and what to do about it; ``message`` is that of pycparser."""
    if rest.startswith("/*"):
        return "this comment is never closed", "write */ where it ends"
    if rest.startswith('"'):
        return "this text has no closing quote on its line", 'write " where it ends'
    if message.startswith("Unmatched"):
        return "this character has no closing quote", "write ' behind it"
    if not message.startswith("Illegal character"):
        return message[:1].lower() + message[1:], ""
    return _illegal_character(rest[0])


def _illegal_character(character: str) -> tuple[str, str]:
    if ord(character) in _BYTES:
        return f"byte 0x{ord(character) - _BYTES[0]:02x}, which is no text in UTF-8", ""
    if character == "\\":
        return "stray '\\'", "a backslash joins lines only as the last character of its line"
    if character.isascii():
        return f"illegal character {character!r}", ""
    name = unicodedata.name(character, "").lower()
    told = f"illegal character '{character}' (U+{ord(character):04X}{f', {name}' if name else ''})"
    meant = _MEANT.get(unicodedata.category(character))
    return told, f"write {meant}" if meant else "names, numbers and operators consist of ASCII characters"
