import os

from ._native import Recording
from ._native import export as export
from ._native import generate_many as generate_many
from ._native import load as load
from ._native import preprocess as preprocess

def save(recording: Recording, path: str | os.PathLike[str]) -> None: ...
