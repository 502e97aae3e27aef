"""Benchmarks of speed and memory, as ratios to a naive implementation in the same run."""
