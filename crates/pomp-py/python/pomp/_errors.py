"""Errors of the package, with the messages of the command line."""


class Error(Exception):
    """An error in POMP. The subclasses are also subclasses of Python's own exceptions."""


class InputError(Error, ValueError):
    """An argument, a setting or the contents of a file are invalid."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder does not exist."""


for _class in (Error, InputError, FileError, MissingFileError):
    _class.__module__ = "pomp"
del _class
