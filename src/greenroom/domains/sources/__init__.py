"""Sources of packs: the tau2 data of a published wheel, or a checkout of tau-bench."""

from __future__ import annotations

from greenroom.domains.sources.checkout import ImportResult, import_checkout
from greenroom.domains.sources.tau2 import PullResult, pull_tau2

__all__ = ["ImportResult", "PullResult", "import_checkout", "pull_tau2"]
