"""Optional libraries."""

import importlib


def need(module, extra, what):
    """Imports a library. If it is missing, the error names the extra of the package that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name != module.split(".")[0]:
            raise
        told = f'{what} needs {module}, which is not installed; pip install "pomp-motion[{extra}]"'
        raise ImportError(told, name=module) from error
