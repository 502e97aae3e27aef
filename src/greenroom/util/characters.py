"""Characters that every file takes."""

from __future__ import annotations


def writable(text: str) -> str:
    """A text that every file takes: a question mark for each half of a surrogate pair.

    Models that are cut off within an emoji send halves. Two that make a pair become its character.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return joined.encode("utf-8", "replace").decode()
    return text
