"""From real numbers to integers: the one room that knows how operators of RealGraph become operators of Graph.

Which table, which requantization, which bias, which pattern rounds twice is decided here and nowhere else.
"""
