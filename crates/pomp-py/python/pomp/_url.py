"""Distinction of URLs and paths."""

import re

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def is_url(place):
    """Whether a place is a URL; otherwise it is a path."""
    return isinstance(place, str) and _URL.match(place) is not None
