"""The examples in the documentation work."""

from __future__ import annotations

import doctest
import pathlib
import re

import matplotlib
import pytest

import antwarp

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md", "python/README.md"])
def test_examples_work(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        exec(example, names)


def test_docstrings_work() -> None:
    assert doctest.testmod(antwarp).failed == 0


def test_the_page_names_what_there_is() -> None:
    page = (ROOT / "docs/python.md").read_text()
    for name in antwarp.__all__:
        assert f"`{name}" in page or f"antwarp.{name}" in page or name == "Progress", name
