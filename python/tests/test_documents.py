"""Everything that documents show runs: docstrings, the README, docs/python.md, the examples, and the stubs are complete."""

import ast
import doctest
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agon_ggp
from agon_ggp import _agon

PYTHON = Path(__file__).resolve().parents[1]
ROOT = PYTHON.parent


def docstrings():
    """All docstrings of the package with examples."""
    found = {"agon_ggp": agon_ggp.__doc__}
    for name in agon_ggp.__all__:
        thing = getattr(agon_ggp, name)
        found[name] = getattr(thing, "__doc__", None)
        if inspect.isclass(thing):
            for member in vars(thing):
                value = getattr(thing, member)
                if member not in ("__class__", "__base__"):
                    found[f"{name}.{member}"] = getattr(value, "__doc__", None)
    for module in ("pettingzoo", "gymnasium", "openspiel"):
        if importlib.util.find_spec("pyspiel" if module == "openspiel" else module):
            imported = importlib.import_module(f"agon_ggp.{module}")
            found[module] = imported.__doc__
    return {name: text for name, text in found.items() if isinstance(text, str) and ">>>" in text}


def test_there_are_examples():
    assert {"Game", "State", "Batch", "Game.load", "Game.search", "play_match"} <= set(docstrings())


@pytest.mark.parametrize("name", docstrings())
def test_docstrings(name):
    test = doctest.DocTestParser().get_doctest(docstrings()[name], {}, name, None, 0)
    output = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=output.append)
    assert runner.failures == 0, "".join(output)


@pytest.mark.parametrize("path", ["README.md", "docs/python.md", "python/README.md"])
def test_code_in_documents(path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(), re.DOTALL)
    assert blocks, path
    code = "\n".join(blocks)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


@pytest.mark.parametrize("path", sorted((PYTHON / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples(path):
    arguments = ["3", "64"] if path.name == "reinforce.py" else []
    run = subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.strip(), run.stderr


def test_the_stubs_have_everything():
    stubs = ast.parse((Path(agon_ggp.__file__).parent / "_agon.pyi").read_text())
    classes = {node.name: node for node in stubs.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stubs.body if isinstance(node, ast.FunctionDef)}
    for name, thing in vars(_agon).items():
        if name.startswith("__"):
            continue
        if not inspect.isclass(thing):
            assert name in functions, name
            continue
        members = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        if issubclass(thing, BaseException):
            continue
        for member in vars(thing):
            if not member.startswith("_"):
                assert member in members, f"{name}.{member}"
    assert (Path(agon_ggp.__file__).parent / "py.typed").exists()


def test_the_stubs_are_those_of_the_module():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "agon_ggp._agon"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
