"""From text to a checked program: a list of nodes, each of which uses only earlier ones.

The words of the text become Python's syntax tree (`ast.parse`, which runs nothing), and of that
tree only what is listed here is taken over. Every name is replaced by the number of its word
first, so what Python makes of a name does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NoReturn

from .functions import FUNCTIONS, advice, bound
from .program import Apply, Name, Node, Number, Program
from .refusal import MAX_BITS, MAX_DEPTH, Span, refuse
from .scan import Word, scan


def parse(text: str) -> Program:
    """The program that a formula says, checked; nothing of it is ever run as Python.

    Parameters
    ----------
    text : str
        One or more statements, separated by ``;`` or new lines; the last is the result.

    Raises
    ------
    TypedFormulaError
        With the place and what to write instead.

    Examples
    --------
    >>> program = parse("z = X@w; sum(z**2)")
    >>> list(program.names), program.nodes[program.result].function
    (['X', 'w'], 'sum')
    """
    if not isinstance(text, str):
        raise refuse(f"a formula is text, not {type(text).__name__}; write it in quotes")
    reader = _Reader(text)
    result = -1
    try:
        for statement in _statements(scan(text)):
            result = reader.statement(statement)
    except RecursionError:
        raise refuse("this is too deep; give its inner parts names: z = ...", text, (0, 1)) from None
    if result < 0:
        raise refuse(
            "there is no formula here; write one, such as 'sum((X@w - y)**2)'", text, (0, 1) if text.strip() else None
        )
    return Program(text, tuple(reader.nodes), reader.assigned, reader.names, result)


def _statements(words: list[Word]) -> Iterator[list[Word]]:
    start = 0
    for k, word in enumerate(words):
        if word.kind == "end":
            yield words[start:k]
            start = k + 1


_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "matmul",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
MOST_WORDS = 5_000
"""The number of words in a statement past which it is not read: Python's own parser gives up at no fixed length."""
_NO_VALUE = object()


class _Reader:
    """Takes statements over, one after the other."""

    def __init__(self, text: str):
        self.text = text
        self.nodes: list[Node] = []
        self.assigned: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.words: list[Word] = []
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    # ------------------------------------------------------------------ statements
    def statement(self, words: list[Word]) -> int:
        target: Word | None = None
        if len(words) > 1 and words[1].says == "=":
            target, words = words[0], words[2:]
            self._check_target(target)
            if not words:
                raise refuse(f"nothing follows '{target.says} ='; write what it is", self.text, target.span)
        result = self.convert(self._tree(words), 0)
        if target is not None:
            node = self.nodes[result]
            if isinstance(node, Name):
                raise refuse(
                    f"'{target.says}' would be a second name for '{node.name}'; use the one name throughout",
                    self.text,
                    target.span,
                )
            self.assigned[target.says] = result
        return result

    def _check_target(self, target: Word) -> None:
        if target.kind != "name" or target.says in ("True", "False", "None"):
            raise refuse("only a name can stand before '='; write == to compare", self.text, target.span)
        if target.says in self.assigned or target.says in self.names:
            raise refuse(f"'{target.says}' has a meaning already; give this value another name", self.text, target.span)

    def _tree(self, words: list[Word]) -> ast.expr:
        """Python's syntax tree of the words, in which names are ``_0``, ``_1``, … by the number of the word."""
        self.words, self.begins, self.ends = words, {}, {}
        depth, parts, at = 0, [], 0
        for k, word in enumerate(words):
            depth += (word.says in ("(", "[")) - (word.says in (")", "]"))
            if word.says == "=" and not depth:
                mend = "write == to compare, or ; before a new statement"
                raise refuse(f"this '=' assigns to more than a name: {mend}", self.text, word.span)
            spelled = f"_{k}" if word.kind == "name" and word.says not in ("True", "False", "None") else word.says
            self.begins[at], self.ends[at + len(spelled)] = k, k
            parts.append(spelled)
            at += len(spelled) + 1
        source = " ".join(parts)
        too_much = refuse(
            "this statement is too deep or too long; give its parts names: z = ...",
            self.text,
            (words[0].span[0], words[-1].span[1]),
        )
        if len(words) > MOST_WORDS:
            raise too_much
        try:
            return ast.parse(source, mode="eval").body
        except SyntaxError as error:
            self._explain(source, error)
        except (RecursionError, MemoryError):
            raise too_much from None
        except ValueError as error:
            raise refuse(f"this cannot be read ({error}); write it more simply", self.text, words[0].span) from None

    def _explain(self, source: str, error: SyntaxError) -> NoReturn:
        """Says which sign lacks a value, of which there is nearly always one."""
        words = self.words
        for k, word in enumerate(words):
            last = words[k - 1] if k else None
            opens = last is None or (last.kind == "sign" and last.says not in (")", "]", "..."))
            if word.kind == "sign" and word.says not in ("(", "[", ")", "]", "+", "-", "...", ":") and opens:
                raise refuse(
                    f"'{word.says}' has nothing on its left; write a value before it", self.text, word.span
                ) from None
            closes = word.says in (")", "]") and last is not None and last.says not in ("(", "[", ",", ":")
            if closes and opens and last is not None:
                raise refuse(
                    f"'{last.says}' has nothing on its right; write a value after it", self.text, last.span
                ) from None
        last = words[-1]
        if last.kind == "sign" and last.says not in (")", "]"):
            raise refuse(
                f"'{last.says}' has nothing on its right; write a value after it", self.text, last.span
            ) from None
        at = max((error.offset or 1) - 1, 0)
        k = max((n for start, n in self.begins.items() if start <= at), default=0)
        says = words[k].says
        if says == ":":
            raise refuse(
                "':' belongs between brackets only, as in x[1:3]; leave it out here", self.text, words[k].span
            ) from None
        raise refuse(
            f"'{says}' is not expected here; write values joined by signs, and f(x) for a function",
            self.text,
            words[k].span,
        ) from None

    # ------------------------------------------------------------------ expressions
    def span(self, tree: Any) -> Span:
        """Where a piece of Python's tree stands in the text."""
        first, last = self.begins[tree.col_offset], self.ends[tree.end_col_offset]
        return self.words[first].span[0], self.words[last].span[1]

    def word(self, identifier: str) -> Word:
        """The word behind ``_7``."""
        return self.words[int(identifier[1:])]

    def add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def apply(self, function: str, tree: Any, *args: int, **params: Any) -> int:
        return self.add(Apply(function, args, params, self.span(tree)))

    def convert(self, tree: ast.expr, depth: int) -> int:
        """The node of an expression; chains such as ``a + b + c`` are taken in a loop."""
        if depth > MAX_DEPTH:
            raise refuse(
                f"this is more than {MAX_DEPTH} levels deep; give inner parts names: z = ...",
                self.text,
                self.span(tree),
            )
        chain: list[ast.BinOp] = []
        while isinstance(tree, ast.BinOp):
            chain.append(tree)
            tree = tree.left
        found = self._one(tree, depth)
        for link in reversed(chain):
            found = self.apply(_BINARY[type(link.op)], link, found, self.convert(link.right, depth + 1))
        return found

    def _one(self, tree: ast.expr, depth: int) -> int:
        match tree:
            case ast.Constant():
                return self.add(self._number(tree))
            case ast.Name():
                return self._name(tree)
            case ast.UnaryOp(op=ast.UAdd()):
                return self.convert(tree.operand, depth + 1)
            case ast.UnaryOp(op=ast.USub()):
                return self.apply("neg", tree, self.convert(tree.operand, depth + 1))
            case ast.Compare():
                if len(tree.ops) > 1:
                    mend = "write two: where(a < x, where(x < b, u, v), v)"
                    raise refuse(f"comparisons cannot be chained: {mend}", self.text, self.span(tree))
                left, right = self.convert(tree.left, depth + 1), self.convert(tree.comparators[0], depth + 1)
                return self.apply(_COMPARE[type(tree.ops[0])], tree, left, right)
            case ast.Subscript():
                base = self.convert(tree.value, depth + 1)
                return self.apply("getitem", tree, base, index=self._index(tree.slice))
            case ast.Attribute():
                return self._attribute(tree, tree, depth)
            case ast.Call():
                return self._call(tree, depth)
            case ast.List() | ast.Tuple():
                mend = "write a name, and give its values with --at name=[1,2,3]"
                raise refuse(f"a list of values cannot stand in a formula: {mend}", self.text, self.span(tree))
        raise refuse(
            "this is not part of the language; write names, numbers, signs and functions", self.text, self.span(tree)
        )

    def _number(self, tree: ast.Constant) -> Number:
        span = self.span(tree)
        value = tree.value
        if isinstance(value, (bool, type(None), type(...))):
            raise refuse(
                f"{self.text[span[0] : span[1]]} is not a value here; write a number or a name", self.text, span
            )
        if not isinstance(value, (int, float)):
            raise refuse("only real numbers are part of the language; write them with digits", self.text, span)
        if (isinstance(value, int) and value.bit_length() > MAX_BITS) or value == float("inf"):
            raise refuse("this number is larger than a double can be; write one below 1e300", self.text, span)
        if value == 0 and any(c in "123456789" for c in self.text[span[0] : span[1]].lower().partition("e")[0]):
            raise refuse("this number is smaller than a double can be; write 0, or one above 1e-300", self.text, span)
        return Number(value, span)

    def _name(self, tree: ast.Name) -> int:
        word = self.word(tree.id)
        if word.says in self.assigned:
            return self.assigned[word.says]
        if word.says not in self.names:
            self.names[word.says] = self.add(Name(word.says, word.span))
        return self.names[word.says]

    def _attribute(self, tree: ast.Attribute, whole: ast.expr, depth: int) -> int:
        word = self.word(tree.attr) if tree.attr.startswith("_") else None
        called = whole is not tree
        if word is None or (word.says, called) not in (("T", False), ("mT", False), ("t", True)):
            says = word.says if word else tree.attr
            mend = (
                f"write {says}(x)"
                if says in FUNCTIONS
                else "only x.T and x.t() are; write a function, f(x), or a name without the point"
            )
            raise refuse(f"'.{says}' is not part of the language: {mend}", self.text, self.span(whole))
        return self.apply(word.says, whole, self.convert(tree.value, depth + 1))

    # ------------------------------------------------------------------ calls
    def _call(self, tree: ast.Call, depth: int) -> int:
        if isinstance(tree.func, ast.Attribute):
            if tree.args or tree.keywords:
                mend = "only x.T and x.t() are; write f(x, ...)"
                raise refuse(f"methods with arguments are not part of the language: {mend}", self.text, self.span(tree))
            return self._attribute(tree.func, tree, depth)
        if not isinstance(tree.func, ast.Name):
            raise refuse("a sign is missing before this bracket; write * for a product", self.text, self.span(tree))
        word = self.word(tree.func.id)
        function = FUNCTIONS.get(word.says)
        if function is None:
            known = word.says in self.names or word.says in self.assigned
            raise refuse(advice(word.says, known), self.text, word.span)
        named: dict[str, ast.expr] = {}
        for k in tree.keywords:
            if k.arg is None:
                raise refuse(
                    "'**' before an argument is not part of the language; write the arguments out",
                    self.text,
                    self.span(tree),
                )
            name = self.word(k.arg)
            if name.says in named:
                raise refuse(f"'{name.says}' is given twice; leave one out", self.text, name.span)
            named[name.says] = k.value
        for a in tree.args:
            if isinstance(a, ast.Starred):
                raise refuse(
                    "'*' before an argument is not part of the language; write the arguments out",
                    self.text,
                    self.span(a),
                )
        try:
            tensors, params = bound(word.says, function, tree.args, named)
        except ValueError as error:
            raise refuse(str(error), self.text, self.span(tree)) from None
        args = tuple(self.convert(a, depth + 1) for a in tensors)
        values = {name: self._parameter(a, word.says, name) for name, a in params.items()}
        return self.add(Apply(function.name, args, values, self.span(tree)))

    def _parameter(self, tree: ast.expr | list[ast.expr], function: str, name: str) -> Any:
        """A parameter: a number, True, False, None, or a tuple of whole numbers."""
        if isinstance(tree, list):
            return tuple(self._parameter(t, function, name) for t in tree)
        if isinstance(tree, (ast.Tuple, ast.List)):
            return tuple(self._parameter(t, function, name) for t in tree.elts)
        value = self._literal(tree)
        if value is _NO_VALUE:
            raise refuse(
                f"{function}: '{name}' must be a plain number, or several in brackets; write it out",
                self.text,
                self.span(tree),
            )
        return value

    def _literal(self, tree: ast.expr) -> Any:
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            value = self._literal(tree.operand)
            return -value if isinstance(value, (int, float)) and not isinstance(value, bool) else _NO_VALUE
        if isinstance(tree, ast.Constant) and (tree.value is None or isinstance(tree.value, bool)):
            return tree.value
        return self._number(tree).value if isinstance(tree, ast.Constant) else _NO_VALUE

    # ------------------------------------------------------------------ indices
    def _index(self, tree: ast.expr) -> tuple[Any, ...]:
        return tuple(self._item(t) for t in (tree.elts if isinstance(tree, ast.Tuple) else [tree]))

    def _item(self, tree: ast.expr) -> Any:
        if isinstance(tree, ast.Constant) and tree.value is ...:
            return ...
        if isinstance(tree, ast.Slice):
            return slice(*(None if t is None else self._whole(t) for t in (tree.lower, tree.upper, tree.step)))
        return self._whole(tree)

    def _whole(self, tree: ast.expr) -> int | None:
        value = self._literal(tree)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62):
            return value
        mend = "write whole numbers, slices such as 1:3, None or ..."
        raise refuse(f"only numbers known beforehand can be indices: {mend}", self.text, self.span(tree))
