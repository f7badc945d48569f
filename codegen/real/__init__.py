"""The operators of RealGraph: what each computes on real numbers, whatever format it came in and however it is stored.

One module a family.  Each operator says its shapes (`infer`) and its definition in float32 (`evaluate`), the order of
sums included; those with sums also how to have them sooner (`quickly`).
"""
