"""Figures from results: nothing here knows how the results came about."""

from __future__ import annotations

from greenroom.analysis.pass_hat_k import pass_hat_k, pass_hat_ks

__all__ = ["pass_hat_k", "pass_hat_ks"]
