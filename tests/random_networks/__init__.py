"""Random networks: what the scheduler, the kernels and the emitted schedule are proved with.

`draw.py` makes tensors, `motifs.py` the shapes of networks, `cases.py` whole networks with options and their plans,
`batch.py` builds and runs many of them at once, `coverage.py` says what they covered.

    python -m tests.random_networks --count 2000 --seed 1
"""
