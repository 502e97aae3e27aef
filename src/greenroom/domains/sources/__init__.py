"""Sources of packs: a checkout of tau-bench, and how Python source is read without running it."""

from __future__ import annotations

from greenroom.domains.sources.checkout import ImportResult, import_checkout

__all__ = ["ImportResult", "import_checkout"]
