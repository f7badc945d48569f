"""From a float RealGraph and samples to one whose values are stored as integers.

Decides: which tensor is held in which integers, and which integers each weight becomes.  It only adds `Stored`s and
changes real weights; what arithmetic computes them is settled behind it (`codegen/settle`).
"""
