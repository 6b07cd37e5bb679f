"""Writes antwarp/_options.pyi: the options of `solve` with their types, as the installed package declares them."""

import pathlib

from antwarp import _native

PATH = pathlib.Path(__file__).parent.parent / "antwarp" / "_options.pyi"


def stub() -> str:
    lines = [
        '"""The options of `antwarp.solve`. Written by python/tests/options_stub.py."""',
        "",
        "from collections.abc import Sequence",
        "from typing import Literal, TypedDict",
        "",
        "class Options(TypedDict, total=False):",
    ]
    for name, kind, algorithms, help in _native.declarations():
        if help:
            lines += ["", f"    # {', '.join(algorithms)}: {help}"]
        lines.append(f"    {name}: {kind} | None")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PATH.write_text(stub())
