"""Tests of the playground: its API, its door and its pages."""
