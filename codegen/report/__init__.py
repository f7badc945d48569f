"""Tables and records about a compiled network: one record, rendered as text or JSON."""
