"""Frontends: model files to Graphs, one room per format."""
