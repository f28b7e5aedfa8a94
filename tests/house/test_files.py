"""Every file says what it owns, is short, and has a name that means something."""

from __future__ import annotations

import ast
from pathlib import Path

LONGEST = 600
VAGUE = {"common", "helper", "helpers", "misc", "util", "utils"}


def test_every_file_opens_with_a_docstring(sources: list[Path]):
    assert [
        path for path in sources if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ] == []


def test_no_file_is_too_long(sources: list[Path]):
    lengths = {str(path): path.read_text("utf-8").count("\n") for path in sources}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_names_say_what_is_held(sources: list[Path], root: Path):
    names = {path: path.relative_to(root).with_suffix("").parts for path in sources}
    assert [path for path, parts in names.items() if VAGUE & set(parts)] == []
