"""Values of variables from the command line: numbers, lists, and files."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np

from .refusal import MAX_ENTRIES, abbreviated, closest, refuse

MAX_BYTES = 1_000_000_000
"""The largest file that is read."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TOKEN = re.compile(rf"\s*(?:({_NUMBER.pattern})|([\[\],]))\s*")
_MAX_RANK = 8


def read_data(spec: str) -> np.ndarray:
    """The values that a specification stands for.

    Parameters
    ----------
    spec : str
        A number, a list in brackets, or ``@`` and a file: ``@data.csv`` (the numeric columns),
        ``@data.csv:price`` (one column), ``@data.npy``.

    Raises
    ------
    TypedFormulaError
        If there is no such file or column, or something in it is no number; the message says where.

    Examples
    --------
    >>> read_data("[[1, 2], [3, 4]]")
    array([[1., 2.],
           [3., 4.]])
    """
    spec = spec.strip()
    return _file(spec[1:]) if spec.startswith("@") else _typed(spec)


# ------------------------------------------------------------------ typed values
def _typed(spec: str) -> np.ndarray:
    """A number, or lists of numbers: rows of equal lengths."""
    stack: list[list[Any]] = [[]]
    at, awaits_value, deepest = 0, True, 0
    while at < len(spec):
        match = _TOKEN.match(spec, at)
        place = (at, at + 1)
        if match is None:
            raise refuse("this is no number; write 1.5, [1, 2, 3], [[1, 2], [3, 4]], or @file.csv", spec, place)
        at = match.end()
        number, sign = match[1], match[2]
        opened_now = sign == "]" and not stack[-1] and len(stack) > 1
        if awaits_value != bool(number or sign == "[") and not opened_now:
            mend = "a value is missing before it" if awaits_value else "a comma is missing before it"
            raise refuse(f"'{number or sign}' is not expected here: {mend}", spec, match.span(1 if number else 2))
        if number:
            if float(number) == 0 and any(c in "123456789" for c in number.lower().partition("e")[0]):
                raise refuse(
                    "this number is smaller than a double can be; write 0, or one above 1e-300", spec, match.span(1)
                )
            stack[-1].append(float(number))
            awaits_value = False
        elif sign == "[":
            stack.append([])
            deepest = max(deepest, len(stack))
            if deepest > _MAX_RANK + 1:
                raise refuse(f"lists stand more than {_MAX_RANK} deep here; write at most that many", spec, place)
        elif sign == ",":
            if len(stack) == 1:
                raise refuse("several values need brackets; write [1, 2, 3]", spec, match.span(2))
            awaits_value = True
        else:
            if len(stack) == 1:
                raise refuse("this ']' closes nothing; leave it out", spec, match.span(2))
            done = stack.pop()
            stack[-1].append(done)
            awaits_value = False
    if len(stack) > 1:
        raise refuse("a list is not closed; write the ']' that belongs to it", spec, (len(spec), len(spec) + 1))
    if len(stack[0]) != 1:
        raise refuse(
            "there is no value here; write 1.5, [1, 2, 3], [[1, 2], [3, 4]], or @file.csv",
            spec,
            (0, 1) if spec else None,
        )
    try:
        values = np.array(stack[0][0], dtype=np.float64)
    except ValueError:
        raise refuse("rows have different lengths; write rows of equal lengths", spec, (0, len(spec))) from None
    return _within(values, abbreviated(spec))


def _within(values: np.ndarray, what: str) -> np.ndarray:
    if values.size > MAX_ENTRIES:
        raise refuse(f"{what} has {values.size:,} entries, and at most {MAX_ENTRIES:,} are taken; give a part of them")
    if not np.isfinite(values).all():
        raise refuse(f"{what} has entries that are infinite or no numbers; fill or drop them first")
    return values


# ------------------------------------------------------------------ files
def _file(spec: str) -> np.ndarray:
    name, column = spec, None
    if not name.lower().endswith((".csv", ".tsv", ".npy")) and (
        match := re.match(r"(.*?\.(?:csv|tsv)):(.*)", name, re.I | re.S)
    ):
        name, column = match[1], match[2].strip()
    if not name.lower().endswith((".csv", ".tsv", ".npy")):
        raise refuse(
            f"'{abbreviated(name)}' is no file that can be read; write @name.csv, @name.csv:column or @name.npy"
        )
    path = Path(name)
    try:
        if not path.is_file():
            raise refuse(f"there is no file '{name}' in {Path.cwd()}; write the path from there, or the whole path")
        if path.stat().st_size > MAX_BYTES:
            raise refuse(f"'{name}' has more than {MAX_BYTES:,} bytes; give a part of it")
        return _npy(path) if name.lower().endswith(".npy") else _csv(path, column)
    except OSError as error:
        raise refuse(
            f"'{name}' cannot be read ({error.strerror or error}); check the path and its permissions"
        ) from None
    except UnicodeDecodeError:
        raise refuse(f"'{name}' is not text in UTF-8; save it as UTF-8 first") from None
    except (ValueError, EOFError) as error:
        if isinstance(error, type(refuse(""))):
            raise
        raise refuse(f"'{name}' cannot be read ({error}); save it again with numpy.save or as plain CSV") from None


def _npy(path: Path) -> np.ndarray:
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        raise refuse(f"'{path}' holds no real numbers; save an array of ints or floats")
    if values.size > MAX_ENTRIES:
        return _within(values, f"'{path}'")
    return _within(np.array(values, dtype=np.float64), f"'{path}'")


def _csv(path: Path, column: str | None) -> np.ndarray:
    header, rows = _rows(path)
    if column is not None:
        if column not in header:
            near = closest(column, header)
            mend = f"did you mean {near}?" if near else f"write @{path}:{header[0]}"
            raise refuse(f"'{path}' has no column '{column}'; it has {', '.join(header)}: {mend}")
        if header.count(column) > 1:
            raise refuse(
                f"'{path}' has {header.count(column)} columns '{column}'; give them different names in its first line"
            )
        return _column(path, header, rows, header.index(column))
    numeric = [k for k in range(len(header)) if any(_is_number(cells[k]) for _, cells in rows)]
    if not numeric:
        raise refuse(
            f"'{path}' has no column of numbers; its columns are {', '.join(header)}: give a file with numbers"
        )
    return np.stack([_column(path, header, rows, k) for k in numeric], axis=1)


def _rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the rows with their line numbers; blank lines are left out."""
    rows: list[tuple[int, list[str]]] = []
    cells = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=max(",;\t", key=first.count), strict=True)
        try:
            for row in reader:
                if any(c.strip() for c in row):
                    rows.append((reader.line_num, [c.strip() for c in row]))
                    cells += len(row)
                    if cells > MAX_ENTRIES:
                        raise refuse(f"'{path}' has more than {MAX_ENTRIES:,} cells; give a part of it")
        except csv.Error as error:
            raise refuse(f"line {reader.line_num} of '{path}' is no CSV ({error}); check its quotes") from None
    if not rows:
        raise refuse(f"'{path}' is empty; its first line must name the columns")
    header = rows.pop(0)[1]
    if all(_is_number(c) for c in header):
        raise refuse(
            f"the first line of '{path}' holds numbers; it must name the columns, such as {_example(len(header))}"
        )
    if not rows:
        raise refuse(f"'{path}' has a header and no rows; add rows of values")
    for line, row in rows:
        if len(row) != len(header):
            raise refuse(
                f"line {line} of '{path}' has {len(row)} cells, the header {len(header)}; make all rows as long"
            )
    return header, rows


def _example(columns: int) -> str:
    return ",".join(f"x{k + 1}" for k in range(min(columns, 4))) + (",…" if columns > 4 else "")


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def _column(path: Path, header: list[str], rows: list[tuple[int, list[str]]], k: int) -> np.ndarray:
    values = np.empty(len(rows))
    for at, (line, row) in enumerate(rows):
        if not _is_number(row[k]):
            says = f"is '{abbreviated(row[k])}', which is no number" if row[k] else "is empty"
            raise refuse(
                f"in '{path}', line {line}, column '{header[k]}', the cell {says}; fill it in, or drop the row"
            )
        values[at] = float(row[k])
    return _within(values, f"column '{header[k]}' of '{path}'")
