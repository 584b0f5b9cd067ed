"""Ratios against PyTorch and NumPy, measured side by side. No timing is a test.

    python -m pytest tests/benchmarks --benchmark-only -s

prints them with their targets; an ordinary test run skips them.
"""
