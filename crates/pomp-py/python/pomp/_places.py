"""Folders and files by path or by URL. fsspec defines the URLs: s3://, gs://, abfs://, memory:// and others.

Files appear only when they are complete. On a disk, a file is written beside its place and renamed. In a store, it is written in one
transaction. Credentials and options are those of fsspec's configuration and environment.
"""

import contextlib
import os
import pathlib
import shutil
import tempfile
import threading

from ._errors import FileError, InputError, MissingFileError
from ._extras import need
from ._url import is_url

_PARTIAL = ".partial-pomp-"
_WRITING = threading.Lock()


@contextlib.contextmanager
def _told(action, url):
    """Converts the errors of stores, which have many classes, to those of the package."""
    try:
        yield
    except (FileError, InputError, ImportError, KeyboardInterrupt):
        raise
    except FileNotFoundError as error:
        raise MissingFileError(f"{action} {url}: it is not there ({error})") from error
    except Exception as error:
        raise FileError(f"{action} {url}: {type(error).__name__}: {error}") from error


class Folder:
    """A folder by path or URL."""

    def __init__(self, place):
        self.place = os.fspath(place)
        self._files = None
        if is_url(self.place):
            fsspec = need("fsspec", "cloud", f"{self.place}: a URL")
            with _told("opening", self.place):
                self._files, self._root = fsspec.core.url_to_fs(self.place)
            if isinstance(self._files, fsspec.get_filesystem_class("file")):
                self._files, self._path = None, pathlib.Path(self._root)
            self.place = self.place.rstrip("/")
        else:
            self._path = pathlib.Path(self.place)

    @property
    def path(self):
        """The path of a folder on a disk of this machine; None for a store."""
        return None if self._files is not None else self._path

    def where(self, name):
        """The path or URL of a file of the folder, for messages."""
        return f"{self.place}/{name}" if self._files is not None else str(self._path / name)

    def _of(self, name):
        return f"{self._root.rstrip('/')}/{name}"

    def names(self):
        """Sorted names of all files below the folder, with / between folders; empty if the folder does not exist."""
        if self._files is None:
            files = (path for path in self._path.rglob("*") if path.is_file())
            names = (path.relative_to(self._path).as_posix() for path in files)
        else:
            with _told("listing", self.place):
                # The listing includes files written by other processes.
                self._files.invalidate_cache()
                try:
                    found = self._files.find(self._root)
                except FileNotFoundError:
                    found = []
            root = self._files._strip_protocol(self._root).rstrip("/") + "/"
            names = (name[len(root) :] for name in found if name.startswith(root))
        return sorted(name for name in names if not name.rsplit("/", 1)[-1].startswith(_PARTIAL))

    def read(self, name):
        """The bytes of a file."""
        with _told("reading", self.where(name)):
            return (self._path / name).read_bytes() if self._files is None else self._files.cat_file(self._of(name))

    def fetch(self, name, into):
        """Copies a file to the path `into`."""
        pathlib.Path(into).parent.mkdir(parents=True, exist_ok=True)
        with _told("reading", self.where(name)):
            if self._files is None:
                shutil.copyfile(self._path / name, into)
            else:
                self._files.get_file(self._of(name), os.fspath(into))

    def write(self, name, data):
        """Writes bytes as a file, which appears only when it is complete."""
        with _told("writing", self.where(name)), self._whole(name) as file:
            file.write(data)

    def publish(self, path, name):
        """Copies the file at `path` into the folder, where it appears only when it is complete."""
        with _told("writing", self.where(name)), open(path, "rb") as source, self._whole(name) as file:
            shutil.copyfileobj(source, file, 1 << 22)

    @contextlib.contextmanager
    def _whole(self, name):
        if self._files is not None:
            # An exception discards the transaction; that of a killed process is never completed. The transaction belongs to the store
            # object, which threads share.
            with _WRITING, self._files.transaction, self._files.open(self._of(name), "wb") as file:
                yield file
            return
        target = self._path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=_PARTIAL, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, target)
        except BaseException:
            os.unlink(partial)
            raise


def split(url):
    """The folder of a file's URL, and the file's name in it."""
    folder, _, name = url.rpartition("/")
    if not name or not folder or folder.endswith(":/") or folder.endswith(":"):
        raise InputError(f"{url}: it names no file in a folder")
    return Folder(folder), name


@contextlib.contextmanager
def scratch():
    """A temporary folder on the disk of this machine, in TMPDIR. It is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="pomp-") as folder:
        yield pathlib.Path(folder)
