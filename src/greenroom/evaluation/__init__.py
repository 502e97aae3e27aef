"""Evaluation: test sets, evaluators and runs of a workflow over a test set."""

from __future__ import annotations
