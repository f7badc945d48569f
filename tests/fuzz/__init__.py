"""Fuzzing of everything that reads a file: models, targets, configurations, arrays."""
