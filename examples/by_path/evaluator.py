"""An evaluator in one file: greenroom eval ... --evaluator examples/by_path/evaluator.py"""

from __future__ import annotations


def polite(output: str) -> bool:
    """Pass answers that say please or thank you."""
    return any(words in output.lower() for words in ("please", "thank you"))
