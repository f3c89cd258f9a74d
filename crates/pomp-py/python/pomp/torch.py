"""The training examples of POMP as PyTorch tensors.

>>> from pomp.torch import MotionDataset  # doctest: +SKIP
>>> windows = MotionDataset("out/data", normalised=True)  # doctest: +SKIP
>>> windows[0]["x"].shape, windows[0]["impulses"].shape  # doctest: +SKIP
(torch.Size([656]), torch.Size([22, 3]))
"""

import operator
import os

from . import _native
from ._errors import InputError
from ._extras import need
from ._places import Folder, is_url, scratch

torch = need("torch", "torch", "pomp.torch")

__all__ = ["MotionDataset"]


class MotionDataset(torch.utils.data.Dataset):
    """The examples of a preprocessed folder that `pomp train kinematic` learns from: `pomp.Windows` as tensors.

    An item is a dict of float32 tensors: `x`, the input of the kinematic module for a frame; `y`, its output for the next frame;
    `phases` (keys, 2 C), the phase codes of the window; `impulses` (bodies, 3), the contact impulse of each body in the root frame, as
    mean force of the frame in body weights. `blocks` names the parts of x and y.

    Items are in the order of clips and frames, in every process and with any number of workers. The recordings are in memory once.
    Forked workers share them. Other workers read the folder again and check that it has not changed.

    Args:
        folder: Folder of recordings written by `pomp.preprocess`, a path or URL.
        split: "training" or "held_out". The held-out clips are those of the measurements of training: one in `held_out_every`, by a
            hash of the clip's name.
        states: "clean" for the states of the clips, "replayed" for those of their physics replays. In both cases y leads to the clip.
        normalised: Return x and y as the networks get them: y relative to an unchanged state, both normalised.
        model: Folder of the model whose autoencoder computes the phases; if left out, the embedded compact model.
        config: A training configuration (.toml); if left out, that of the compact model.
        settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
    """

    def __init__(
        self, folder, *, split="training", states="clean", normalised=False, model=None, config=None, settings=None
    ):
        if isinstance(model, _native.Model):
            raise InputError("model: give its folder; a Model in memory cannot be sent to workers")
        folder = os.fspath(folder)
        self._folder = folder if is_url(folder) else os.path.abspath(folder)
        self._options = {"split": split, "states": states, "normalised": normalised}
        self._options |= {"model": model, "config": config, "settings": settings}
        self._data_hash = None
        self._windows = None
        self._opened()

    def _opened(self):
        if self._windows is None:
            windows = _open(self._folder, self._options)
            if self._data_hash not in (None, windows.data_hash):
                told = f"{self._folder}: the recordings have changed since the dataset was opened"
                raise InputError(f"{told} ({self._data_hash} then, {windows.data_hash} now); open it again")
            self._data_hash, self._windows = windows.data_hash, windows
        return self._windows

    def __len__(self):
        return len(self._opened())

    def __getitem__(self, index):
        return self.__getitems__([index])[0]

    def __getitems__(self, indices):
        """Several items at once, as `torch.utils.data.DataLoader` requests them."""
        count = len(self)
        places = [_place(index, count) for index in indices]
        batch = {name: torch.tensor(values) for name, values in self._opened().batch(places).items()}
        return [{name: values[row] for name, values in batch.items()} for row in range(len(places))]

    @property
    def blocks(self):
        """Slices of the parts of x and y: a dict of "x" and "y"; each maps names to slices."""
        return self._opened().blocks

    @property
    def body_names(self):
        """Names of the bodies of the impulses."""
        return self._opened().body_names

    @property
    def data_hash(self):
        """Hash of all recordings of the folder. Models trained on them store it."""
        return self._data_hash

    def place(self, index):
        """Name of the recording and index of the frame of an item."""
        return self._opened().place(_place(index, len(self)))

    def statistics(self):
        """Mean and deviation over the training clips, identical to those of training: `x_mean` and `x_deviation`, and `y_mean` and
        `y_deviation` of y in the form of the networks."""
        return {name: torch.tensor(values) for name, values in self._opened().statistics().items()}

    def __getstate__(self):
        return self.__dict__ | {"_windows": None}

    def __repr__(self):
        return f"<pomp.torch.MotionDataset {len(self)} windows of {self._folder}>"


def _place(index, count):
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"there is no window {index}; there are {count}")
    return index % count


def _open(folder, options):
    if not is_url(folder):
        return _native.Windows(folder, **options)
    remote = Folder(folder)
    if remote.path is not None:
        return _native.Windows(remote.path, **options)
    with scratch() as copy:
        for name in remote.names():
            if name.endswith(".npz") and "/" not in name:
                remote.fetch(name, copy / name)
        return _native.Windows(copy, **options)
