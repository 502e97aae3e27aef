from __future__ import annotations

from typing import Any

import pytest

from greenroom.messages import text_of

CONTENTS: list[tuple[Any, str]] = [
    ("plain", "plain"),
    (None, ""),
    ([{"type": "text", "text": "one "}, {"text": "two"}, " three"], "one two three"),
    ([{"type": "refusal", "refusal": "no"}], "no"),
    ([{"type": "image_url", "image_url": {}}], ""),
    ([{"type": [], "text": "of no type"}], ""),
    ([{"type": "text", "text": 5}, 7, None], ""),
]


@pytest.mark.parametrize(("content", "text"), CONTENTS)
def test_the_text_of_any_content(content: Any, text: str) -> None:
    assert text_of(content) == text
