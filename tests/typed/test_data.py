"""Values from numbers, lists and files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad import typed
from symgrad.errors import TypedFormulaError

PRICES = "day,price,size,city\n1,10.5,3,Rome\n2,-11,4,Oslo\n\n3,1e1,5,Bonn\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("1.5", 1.5),
        (" -2 ", -2),
        (".5", 0.5),
        ("1.", 1),
        ("+3e-2", 0.03),
        ("[1,2,3]", [1, 2, 3]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("[]", []),
        ("[[1],[2]]", [[1], [2]]),
    ],
)
def test_typed_values(spec, expected):
    found = typed.read_data(spec)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.array(expected, dtype=float))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "no value here"),
        ("abc", "this is no number"),
        ("nan", "this is no number"),
        ("1,2", "need brackets"),
        ("[1 2]", "a comma is missing"),
        ("[1,,2]", "a value is missing"),
        ("[1,]", "a value is missing"),
        ("[,1]", "a value is missing"),
        ("[1,2", "not closed"),
        ("]", "a value is missing"),
        ("1]", "closes nothing"),
        ("[1][2]", "a comma is missing"),
        ("[[1,2],[3]]", "different lengths"),
        ("[1,[2]]", "different lengths"),
        ("1e999", "infinite"),
        ("[" * 20, "more than 8 deep"),
        ("__import__('os')", "this is no number"),
        ("['a']", "this is no number"),
    ],
)
def test_typed_values_refused(spec, says):
    with pytest.raises(TypedFormulaError) as caught:
        typed.read_data(spec)
    assert says in caught.value.reason


@given(st.text(alphabet="[],0123456789.eE+- @x", max_size=40))
def test_any_text_is_read_or_refused(spec):
    try:
        assert typed.read_data(spec).dtype == np.float64
    except TypedFormulaError:
        pass


# ------------------------------------------------------------------ files
def test_csv(folder):
    (folder / "d.csv").write_text(PRICES)
    np.testing.assert_array_equal(typed.read_data("@d.csv:price"), [10.5, -11, 10])
    np.testing.assert_array_equal(typed.read_data("@d.csv"), [[1, 10.5, 3], [2, -11, 4], [3, 10, 5]])
    np.testing.assert_array_equal(typed.read_data(f"@{folder}/d.csv:size"), [3, 4, 5])


def test_csv_as_spreadsheets_write_it(folder):
    (folder / "d.csv").write_bytes('\ufeff"a b";x:y\r\n 1 ;2\r\n"3";4\r\n'.encode())
    np.testing.assert_array_equal(typed.read_data("@d.csv:a b"), [1, 3])
    np.testing.assert_array_equal(typed.read_data("@d.csv:x:y"), [2, 4])


def test_npy(folder):
    np.save(folder / "d.npy", np.arange(6, dtype=np.int32).reshape(2, 3))
    np.testing.assert_array_equal(typed.read_data("@d.npy"), np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("text", "spec", "says"),
    [
        (PRICES, "@none.csv", "there is no file 'none.csv'"),
        (PRICES, "@d.txt", "write @name.csv, @name.csv:column or @name.npy"),
        (PRICES, "@", "write @name.csv"),
        (PRICES, "@d.csv:prise", "has no column 'prise'; it has day, price, size, city: did you mean price?"),
        (PRICES, "@d.csv:q", "it has day, price, size, city"),
        (PRICES, "@d.csv:city", "line 2, column 'city', the cell is 'Rome'"),
        ("a,b\n1,2\n3\n", "@d.csv", "line 3 of 'd.csv' has 1 cells, the header 2"),
        ("a,b\n1,2\n3,x\n", "@d.csv", "line 3, column 'b', the cell is 'x'"),
        ("a,b\n1,2\n3,\n", "@d.csv:b", "line 3, column 'b', the cell is empty"),
        ("a\n1\nnan\n", "@d.csv", "line 3, column 'a', the cell is 'nan'"),
        ("a\n1e999\n", "@d.csv", "infinite"),
        ("a,a\n1,2\n", "@d.csv:a", "2 columns 'a'"),
        ("a,b\nx,y\n", "@d.csv", "no column of numbers"),
        ("1,2\n3,4\n", "@d.csv", "must name the columns, such as x1,x2"),
        ("", "@d.csv", "is empty"),
        ("a,b\n", "@d.csv", "a header and no rows"),
        ('a,b\n"1,2\n', "@d.csv", "is no CSV"),
        ("a\n1\n", "@d.npy", "there is no file"),
    ],
)
def test_files_refused(folder, text, spec, says):
    (folder / "d.csv").write_text(text)
    with pytest.raises(TypedFormulaError) as caught:
        typed.read_data(spec)
    assert says in caught.value.reason


def test_bad_bytes(folder):
    (folder / "d.csv").write_bytes(b"a\n\xff\xfe\n")
    (folder / "d.npy").write_bytes(b"no numpy file")
    np.save(folder / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(folder / "c.npy", np.array([1j]))
    np.save(folder / "n.npy", np.array([np.nan]))
    (folder / "folder.csv").mkdir()
    for spec in ("@d.csv", "@d.npy", "@o.npy", "@c.npy", "@n.npy", "@folder.csv", "@a\0b.csv"):
        with pytest.raises(TypedFormulaError):
            typed.read_data(spec)


def test_data_in_a_formula(folder):
    (folder / "d.csv").write_text(PRICES)
    t = typed.evaluate("mean((X@w - y)**2)", at={"X": "@d.csv", "y": "@d.csv:price", "w": "[0, 1, 0]"})
    assert t.result.item() == 0
