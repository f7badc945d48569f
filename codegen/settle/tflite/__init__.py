"""TFLite's integers: rules for operators whose tensors say themselves how they are held, channels last."""
