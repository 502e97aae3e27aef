"""A user in one file: it opens with the instruction, and agrees until the agent says goodbye.

greenroom run --user-strategy examples/by_path/user.py
"""

from __future__ import annotations

from greenroom.domains import STOP


def agreeable(content: str) -> str:
    """Agree to everything."""
    return STOP if "done" in content.lower() else "Yes, please."
