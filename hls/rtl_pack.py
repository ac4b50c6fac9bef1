"""What a packed library of RTL functions holds."""

import os
from collections.abc import Iterable
from pathlib import Path

from .diag import Code, CompileError, Span
from .frontend.preprocess import HEADERS, preprocess
from .rtl_library import RtlFunction, describe, load_library
from .rtl_package import DESCRIPTION

__all__ = ["packed_texts"]


def packed_texts(path: Path) -> dict[str, str]:
    """The texts of a library by their names in its archive: the description, the Verilog files in ``rtl/``, the models
    and what they include in ``models/``. Raises CompileError for a library that is malformed, for a model whose
    includes are not found, and for two Verilog files of one name."""
    library = load_library(path)
    texts: dict[str, str] = {}
    for file in dict.fromkeys(file for one in library for file in one.files):
        if f"rtl/{file.name}" in texts:
            message = f"two Verilog files are named {file.name}"
            raise CompileError.at(Span(str(path), 1), message, "rename one of them", code=Code.RTL_LIBRARY)
        texts[f"rtl/{file.name}"] = file.read_text(encoding="utf-8")
    models = _models(library)
    root = Path(os.path.commonpath([file.parent for file in models]))
    names = {file: f"models/{file.relative_to(root).as_posix()}" for file in models}
    texts |= {names[file]: text for file, text in models.items()}
    tables = [describe(one, (f"rtl/{file.name}" for file in one.files), names[one.model]) for one in library]
    return {DESCRIPTION: "\n".join(tables)} | texts


def _models(library: Iterable[RtlFunction]) -> dict[Path, str]:
    """The texts of all models, and of what they include, by their real paths."""
    found: dict[Path, str] = {}
    for model in dict.fromkeys(one.model for one in library):
        try:
            text = model.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise CompileError.at(
                Span(str(model), 1), "the model is no text", "name a file of OpenCL C", code=Code.RTL_LIBRARY
            ) from None
        sources = {str(model): text} | preprocess(text, str(model), {}, ()).sources
        files = {Path(name).resolve(): each for name, each in sources.items()}
        found |= {file: each for file, each in files.items() if not file.is_relative_to(HEADERS)}
    return found
