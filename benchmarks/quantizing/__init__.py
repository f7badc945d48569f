"""Networks, data and measures by which quantizers are compared."""
