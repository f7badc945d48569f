"""The two orders of a feature map's axes, as permutations."""

TO_NHWC = (0, 2, 3, 1)
TO_NCHW = (0, 3, 1, 2)
