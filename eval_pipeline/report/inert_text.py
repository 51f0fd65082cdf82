"""Text that a model or a user wrote, made harmless where it is shown: in a terminal and in Markdown."""

from __future__ import annotations

import re
import unicodedata

_JOINERS = frozenset("\u200c\u200d")
"""Invisible signs that scripts and emoji need; they reorder and hide nothing."""


def visible(text: str) -> str:
    r"""`text` with line ends, escape sequences and invisible signs written out, such as `\n` and `\x1b`."""
    return "".join(_written_out(sign) if _is_hidden(sign) else sign for sign in text)


def markdown_code(text: str) -> str:
    """`text` as code in GitHub Markdown, also in a table: nothing in it is markup, a mention or a link.

    What could end a code span or a table cell is written as HTML entities instead, in a `code` element.
    """
    shown = visible(text)
    if not shown.strip():
        return ""
    if not re.search(r"[`|\\<>&]", shown) and shown == shown.strip():
        return f"`{shown}`"
    return f"<code>{re.sub(r'[^A-Za-z0-9 ]', _entity, shown)}</code>"


def markdown_text(text: str) -> str:
    """`text` of our own, such as a heading, with what Markdown would read as markup escaped."""
    return re.sub(r"([\\`*_{}\[\]<>|~#$&])", r"\\\1", visible(text))


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign not in _JOINERS


def _written_out(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def _entity(found: re.Match[str]) -> str:
    sign = found.group()
    return f"&#{ord(sign)};" if sign.isascii() else sign
