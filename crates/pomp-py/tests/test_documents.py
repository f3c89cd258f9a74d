"""Every Python example of the documents runs, page by page, in a folder where the pages' earlier steps have been taken."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
import warnings

import pytest
from conftest import ROOT

import pomp

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in [".", "docs", "docs/experiments", *(crate.relative_to(ROOT).as_posix() for crate in ROOT.glob("crates/*"))]
    for path in (ROOT / folder).glob("*.md")
    if re.search(r"^```python$", path.read_text(), re.M)
)


@pytest.fixture(scope="module")
def folder(recordings, tmp_path_factory):
    """What the commands of the pages make, under the names that they give it."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "out").mkdir()
    (folder / "out" / "data").symlink_to(recordings)
    for name, pushes in [("generate", ["0.5,Spine2,50,left"]), ("pushed", ["0.5,Spine2,60,left"])]:
        (folder / "out" / name).mkdir()
        pomp.generate(seconds=2.0, terrain="flat", seed=7, pushes=pushes).save(folder / "out" / name / "rollout.npz")
    (folder / "crates").symlink_to(ROOT / "crates")
    (folder / "data").mkdir()
    for name in ("models", "clips"):
        (folder / "data" / name).symlink_to(ROOT / "data" / name)
    return folder


def libraries(code):
    """The libraries that an example imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
            yield from ("torch" for name in node.names if name.name == "pomp.torch")
            yield from ("ray" for name in node.names if name.name == "pomp.ray")
            yield from ("gymnasium" for name in node.names if name.name == "pomp.envs")
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]
            yield from ("torch" for _ in [0] if node.module == "pomp.torch")


def test_the_pages_with_examples_are_found():
    assert {"docs/python.md", "docs/cluster.md", "docs/dataset.md", "crates/pomp-py/README.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, folder):
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    # `pomp_model` lies in the repository, and its page says where.
    missing = {name: [library for library in libraries(name) if library != "pomp_model" and importlib.util.find_spec(library) is None] for name in examples}
    run = [example for example in examples if not missing[example]]
    left_out = sorted({library for example in examples for library in missing[example]})
    if not run:
        pytest.skip(f"{page}: its examples need {', '.join(left_out)}")
    if left_out:
        warnings.warn(f"{page}: {len(examples) - len(run)} of {len(examples)} examples are not run, they need {', '.join(left_out)}", stacklevel=1)
    environment = os.environ | {"MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore"}
    # From a file, as processes that Ray and PyTorch start import what began them.
    script = folder / f"{re.sub(r'[^a-z]', '_', page)}.py"
    script.write_text("\n".join(run))
    ran = subprocess.run([sys.executable, str(script)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
