"""What becomes of a network's outputs: the `[postprocess]` table, settled for a network, and golden's way."""

from codegen.postprocess.config import Table, parse_postprocess
from codegen.postprocess.golden import Decoder, Found
from codegen.postprocess.program import post_program

__all__ = ["Decoder", "Found", "Table", "parse_postprocess", "post_program"]
