"""Each test meets its leaves as a new session would: no leaf of another test owns a symbol."""

import pytest

from symgrad.formulas import symbols


@pytest.fixture(autouse=True)
def _no_owners():
    symbols._owners.clear()
