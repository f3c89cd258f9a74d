"""What is in the package: types, documentation, examples, and how long it takes to import."""

import ast
import doctest
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

import pomp
import pomp.envs
from pomp import _native

HERE = pathlib.Path(__file__).resolve()
STUB = pathlib.Path(pomp.__file__).with_name("_native.pyi")


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_stub_names_what_the_module_has():
    tree = ast.parse(STUB.read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    named = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    constants = {name for name in named if name == "__version__" or not name.startswith("_")}
    assert public(_native) | {"__version__"} == set(functions) | set(classes) | constants
    assert set(pomp.__all__) == public(_native) | {"__version__", "save", "Error", "InputError", "FileError", "MissingFileError"}
    for name, node in functions.items():
        assert parameters(getattr(_native, name)) == stub_parameters(node), name
    for name, node in classes.items():
        native = getattr(_native, name)
        methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        constants = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)} & set(vars(native))
        assert {method for method in methods if not method.startswith("__")} | constants == public(native), name
        for method, item in methods.items():
            if not method.startswith("__") and callable(getattr(native, method)):
                assert parameters(getattr(native, method)) == stub_parameters(item), f"{name}.{method}"
        if "__new__" in methods:
            assert ["cls", *parameters(native)] == stub_parameters(methods["__new__"]), name


def parameters(function):
    return [name for name in inspect.signature(function).parameters]


def stub_parameters(node):
    names = [argument.arg for argument in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
    is_classmethod = any(isinstance(mark, ast.Name) and mark.id == "classmethod" for mark in node.decorator_list)
    return names[1:] if is_classmethod else names


def test_the_stub_names_every_array_of_a_recording(walk):
    tree = ast.parse(STUB.read_text())
    recording = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Recording")
    named = {node.target.id for node in recording.body if isinstance(node, ast.AnnAssign)}
    described = re.findall(r"^\| `(\w+)` \|", (HERE.parents[3] / "docs" / "dataset.md").read_text(), re.M)
    assert set(walk.keys()) <= named
    assert named <= set(described), named - set(described)


def test_everything_is_documented():
    for name in public(_native):
        thing = getattr(_native, name)
        if callable(thing):
            assert thing.__doc__ and len(thing.__doc__) > 20, name
            for member in public(thing) if inspect.isclass(thing) else ():
                assert getattr(thing, member).__doc__, f"{name}.{member}"


def test_the_examples_of_the_package_hold():
    for module, examples in [(pomp, 6), (pomp.envs, 5)]:
        result = doctest.testmod(module)
        assert result.attempted >= examples and result.failed == 0


def test_it_imports_in_a_blink():
    code = "import time, numpy; a = time.perf_counter(); import pomp; print(time.perf_counter() - a)"
    words = [sys.executable, "-c", code]
    times = [float(subprocess.run(words, capture_output=True, text=True, check=True).stdout) for _ in range(3)]
    assert min(times) < 0.3, times


def test_both_build_files_say_the_same():
    own = (HERE.parents[1] / "pyproject.toml").read_text()
    root = (HERE.parents[3] / "pyproject.toml").read_text()
    paths = re.compile(r"^(readme|python-source|manifest-path) = .*\n", re.M)
    own = own[: own.index("[tool.pytest")]
    assert paths.sub("", own).strip() == paths.sub("", root).strip()
