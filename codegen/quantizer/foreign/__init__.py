"""Configurations and tables of other tools, one file per format, each read into a `QuantConfig`.

What a format says and we do is said with our keys; what is done otherwise is a note; what can be neither is refused.
"""
