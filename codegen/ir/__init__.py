"""The three forms a network takes: Graph (what is computed), Plan (when and where), Program (what C spells).

Frozen data only, with arithmetic on itself.  Stages of the compiler meet in these types and nowhere else.
"""
