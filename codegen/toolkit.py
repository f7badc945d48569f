"""What the stages work with: operators, how files are read, kernels, templates and headers, as one record.

Decides: that what joins is tried before the house's own, and that nothing is changed for anybody else.  Leaves to the
stages what each part is for: every stage gets the part that it needs, from the verb down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.frontends import Vocabulary
from codegen.ir.op import Op
from codegen.kernels import TABLE, KernelTable
from codegen.kernels.kernel import Kernel
from codegen.records import record
from codegen.resources import ROOTS, PluginRoot, Roots

if TYPE_CHECKING:
    from codegen.frontends.onnx.real.reading import Translator
    from codegen.frontends.tflite.real.context import Translator as TfliteTranslator
    from codegen.settle.rule import Rule


@record(eq=False)
class Toolkit:
    """The house's own tools, and those that join them.

    Args:
        vocabulary: operators of model files that join the house's, and the rules that settle them.
        table: the operators in integers, and the kernels that serve them.
        roots: where templates and runtime headers lie.
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    table: KernelTable = TABLE
    roots: Roots = ROOTS

    def joined(
        self,
        *,
        onnx: Mapping[tuple[str, str], Translator] | None = None,
        rules: Sequence[Rule[Any]] = (),
        tflite: Mapping[str, TfliteTranslator] | None = None,
        tflite_rules: Sequence[Rule[Any]] = (),
        operators: Sequence[type[Op]] = (),
        kernels: Sequence[Kernel[Any]] = (),
        templates: Sequence[Path] = (),
        runtime: Sequence[Path] = (),
        plugins: Sequence[PluginRoot] = (),
    ) -> Toolkit:
        """Another toolkit: these tools, and those before them.

        Args:
            onnx: by domain and operator, the function that reads a node of an ONNX model.
            rules: how operators on real numbers become integer ones.
            tflite: by operator, the function that reads a node of a TFLite model; an operator that is no part of
                TFLite is called `custom operator NAME`.
            tflite_rules: how operators of TFLite models become integer ones, by TFLite's own definitions.
            operators: integer ones.
            kernels: for them, or for those of the house; the first that takes a node serves it.
            templates: folders with a folder `kernels` as the house's `templates/` has it.
            runtime: folders with headers in `include`, as the house's `runtime_c/` has it.
            plugins: folders of plug-ins, with templates and headers side by side.
        """
        known, table, roots = self.vocabulary, self.table, self.roots
        return Toolkit(
            Vocabulary(
                {**known.onnx, **(onnx or {})},
                {**known.rules, **{rule.kind: rule for rule in rules}},
                {**known.tflite, **(tflite or {})},
                {**known.tflite_rules, **{rule.kind: rule for rule in tflite_rules}},
            ),
            KernelTable((*operators, *table.operators), (*kernels, *table.kernels)),
            Roots((*templates, *roots.templates), (*runtime, *roots.runtime), (*plugins, *roots.plugins)),
        )


HOUSE = Toolkit()
"""The house's own."""
