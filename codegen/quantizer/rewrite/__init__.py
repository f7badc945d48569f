"""Rewrites of a float network that keep what it computes, and make it lose less as integers.

Each is a file and a function from RealGraph to `Rewritten`; where a rewrite is not exact it leaves the network alone.
"""
