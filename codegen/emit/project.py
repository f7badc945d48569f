"""The files of a generated project."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from codegen.emit.blob import blob_ids, weight_blob
from codegen.emit.context import EmitOptions, ModelView, build_view
from codegen.emit.helpers import helpers_of
from codegen.emit.listing import MANIFEST, with_manifest
from codegen.emit.names import comment
from codegen.emit.render import render, source_texts
from codegen.emit.runtime import header_closure
from codegen.emit.structure import code_fit
from codegen.emit.tracing import log_view
from codegen.errors import PluginClash
from codegen.ir.program import Program
from codegen.ir.quant import Array, DType, TensorType
from codegen.records import record
from codegen.resources import Roots


@record
class Vector:
    """One self-test: inputs are `fill_pattern(seed)`, outputs must have this CRC-32 (see `selftest_crc`)."""

    seed: int
    crc: int


def fill_pattern(seed: int, types: Sequence[TensorType]) -> list[Array]:
    """Test inputs that C can make too: bytes of a linear congruential generator, one stream over all inputs.

    Integers take the bytes as they are (8 bits each, sign-extended when the type is signed); floats are byte / 64 - 2.
    """
    total = sum(t.elements for t in types)
    factor = np.uint32(1664525)
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(total, factor, np.uint32), dtype=np.uint32)
        sums = np.cumsum(np.concatenate([np.ones(1, np.uint32), powers[:-1]]), dtype=np.uint32)
        state = powers * np.uint32(seed) + np.uint32(1013904223) * sums
    stream = (state >> np.uint32(24)).astype(np.uint8)
    found: list[Array] = []
    for kind in types:
        part, stream = stream[: kind.elements], stream[kind.elements :]
        found.append(_typed(part, kind.dtype).reshape(kind.shape))
    return found


def _typed(part: Array, dtype: DType) -> Array:
    if dtype is DType.F32:
        return part.astype(np.float32) / np.float32(64) - np.float32(2)
    if dtype is DType.U8:
        return part
    return part.view(np.int8).astype(dtype.numpy)


_NAN = 0x7FC00000


def selftest_crc(outputs: Sequence[Array]) -> int:
    """CRC-32 of all outputs, little-endian, one after another; every NaN counts as the same one."""
    crc = 0
    for array in outputs:
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.array(_NAN, np.uint32).view(np.float32), array)
        crc = zlib.crc32(array.astype(array.dtype.newbyteorder("<")).tobytes(), crc)
    return crc


def project_files(
    program: Program, options: EmitOptions, vectors: Sequence[Vector], manifest: Mapping[str, Any]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Every file of the project by its path, and the manifest with their list; the same arguments give the same."""
    fit = code_fit(program, options) if options.blob else None
    view = build_view(program, options, fit)
    name, roots = view.name, options.roots
    sources = source_texts(view, roots)
    log = log_view(program, view, sources, manifest)
    manifest = {**manifest, "selftest": log.ids}
    texts = sources | {
        f"include/{name}.h": render("model.h.j2", roots, m=view),
        "test/selftest.c": render("selftest.c.j2", roots, m=view, vectors=vectors, log=log),
        "test/main.c": render("selftest_main.c.j2", roots, m=view),
        "CMakeLists.txt": render("CMakeLists.txt.j2", roots, m=view),
    }
    if any(hook.context.reference for hook in view.hooks):
        texts[f"test/{name}_hooks.c"] = render("hooks.c.j2", roots, m=view)
    if view.camera is not None:
        texts[f"include/{name}_preprocess.h"] = render("preprocess.h.j2", roots, m=view, p=view.camera)
        texts[f"src/{name}_preprocess.c"] = render("preprocess.c.j2", roots, m=view, p=view.camera)
    if view.post is not None:
        texts[f"include/{name}_postprocess.h"] = render("postprocess.h.j2", roots, m=view, p=view.post)
        texts[f"src/{name}_postprocess.c"] = render("postprocess.c.j2", roots, m=view, p=view.post)
    said = helpers_of(program, view, options, manifest)
    texts[f"include/{name}_helpers.h"] = render("helpers.h.j2", roots, m=view, h=said)
    texts[f"src/{name}_info.c"] = render("info.c.j2", roots, m=view, h=said)
    _check_headers(texts, roots)
    texts |= {f"runtime/{header}": text for header, text in header_closure(texts.values(), roots).items()}
    files = {path: text.encode("utf-8") for path, text in texts.items()}
    if fit is not None:
        blob = weight_blob(program, fit, isa=options.isa, byte_order=options.byte_order)
        files["weights.bin"] = blob
        structure, weights_id = blob_ids(blob)
        manifest = {**manifest, "weights_structure": structure, "weights_id": weights_id}
    if options.packages:
        from codegen.emit.packages import package_files

        files |= package_files(options.packages, view, files, roots)
    return _documented(files, view, manifest, roots)


def _check_headers(texts: Iterable[str], roots: Roots) -> None:
    """Return when no header of a plug-in is called as one of the network's; LAM-PLUGIN-004 otherwise."""
    own = {path.rpartition("/")[2] for path in texts}
    for root in roots.plugins:
        taken = next((header for header in root.headers if header in own), None)
        if taken is not None:
            hint = "rename the plug-in's header, or the network (--name)"
            raise PluginClash(f"{taken} is a header of the network's", where=root.name, hint=hint)


def with_documents(
    files: Mapping[str, bytes], program: Program, options: EmitOptions, manifest: Mapping[str, Any]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The project with the files that say what the manifest says written anew, and that manifest with their list."""
    return _documented(files, build_view(program, options), manifest, options.roots)


def _documented(
    files: Mapping[str, bytes], view: ModelView, manifest: Mapping[str, Any], roots: Roots
) -> tuple[dict[str, bytes], dict[str, Any]]:
    flags = comment(manifest["stack_flags"] or "")
    readme = render("README.md.j2", roots, m=view, manifest=manifest, stack_flags=flags).encode("utf-8")
    record = render("MISRA.md", roots).encode("utf-8")
    others = {path: data for path, data in files.items() if path != MANIFEST}
    return with_manifest({**others, "README.md": readme, "MISRA.md": record}, manifest)
