"""JSON that gives back exactly what was put in, whatever it is: for what others wrote.

orjson reads large numbers as floats and refuses half of a surrogate pair; both occur in the wild.
"""

from __future__ import annotations

import json
from typing import Any


def raw_text(value: Any) -> str:
    """A value as JSON that any database and any file can hold.

    A number that JSON has no word for (NaN, infinity) is a ValueError.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair has no place in UTF-8; escaped, it has.
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text


def raw_value(text: str | bytes) -> Any:
    """The value that was put in."""
    return json.loads(text)
