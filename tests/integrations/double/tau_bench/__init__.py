"""A double of Tau Bench's package: the same names, types and checks, over our own environment.

It stands in for the real one, which is on no package index. What it does is written anew from what
the real one is known to do; tests put its directory on the path.
"""
