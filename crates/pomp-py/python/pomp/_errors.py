"""Errors of the package, with the sentences of the command line."""


class Error(Exception):
    """Anything that went wrong in POMP. The classes below tell what kind of thing, and are Python's own kinds too."""


class InputError(Error, ValueError):
    """An argument, a setting or the contents of a file cannot be right."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder is not there."""


for _class in (Error, InputError, FileError, MissingFileError):
    _class.__module__ = "pomp"
del _class
