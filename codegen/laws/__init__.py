"""What every operator owes, as laws that are tried on cases: the house's own operators, and those of plug-ins.

tests/contract/ tries them on all cases of Lamina's operators; `lamina plugin test` on those of a plug-in.
"""

from codegen.laws.answers import ANSWER_LAWS
from codegen.laws.compiled import BUILDS, LEVELS, CompiledLaws, board_target, differences, make_project, sources_of
from codegen.laws.graphs import feeds, graph_of
from codegen.laws.law import Law, must
from codegen.laws.nodes import check_nodes
from codegen.laws.operators import OPERATOR_LAWS
from codegen.laws.reals import REAL_LAWS, real_cases

__all__ = [
    "ANSWER_LAWS",
    "BUILDS",
    "LEVELS",
    "OPERATOR_LAWS",
    "REAL_LAWS",
    "CompiledLaws",
    "Law",
    "board_target",
    "check_nodes",
    "differences",
    "feeds",
    "graph_of",
    "make_project",
    "must",
    "real_cases",
    "sources_of",
]
