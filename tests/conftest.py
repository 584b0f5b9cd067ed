"""Settings for the whole suite: Hypothesis repeats itself exactly, and takes the time it needs."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

import symgrad as sg

_COMMON = dict(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", max_examples=50, **_COMMON)
settings.register_profile("long", max_examples=2000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def float32():
    """PyTorch's default dtype for the time of a test."""
    sg.set_default_dtype(sg.float32)
    yield
    sg.set_default_dtype(sg.float64)
