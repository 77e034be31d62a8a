"""Python functions that become formulas: called once with nodes in place of arrays."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from pyspec._library import OPS, RPN, OpDef, param_name
from pyspec.calls import answered
from pyspec.errors import ModelError
from pyspec.formula import linearize
from pyspec.formula.definitions.formulas import DOMAINS, KERNEL, PARTS, SIDES
from pyspec.formula.definitions.function import FORMULAS, Definition, define, write
from pyspec.formula.forest import is_leaf
from pyspec.formula.graph import Node, constant, cumsum, placeholder, total
from pyspec.formula.rules import instruction_text

#: Any Python function of arrays and numbers.
Function: TypeAlias = Callable[..., Any]

#: What a kernel declares of itself.
Declared: TypeAlias = Function | str | float

#: A value is written as a line of its own where its text would be nested deeper.
_DEEPEST = 30

#: Where the traced formula is compared with the function: points of the axis, values of parameters.
_POINTS = np.array([-3.1, -0.7, 0.0, 0.4, 1.3, 2.9, 17.0])
_VALUES = (1.3, 0.7, 2.1, 0.9, 1.7)


class Traced:
    """A function in Python and the formula that it is. Calling it calls the function; models name
    it like one by formula, and :func:`pyspec.components.registered` writes it."""

    def __init__(self, function: Function, op: OpDef) -> None:
        functools.update_wrapper(self, function)
        self.function, self.op = function, op

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def formula(self) -> str:
        """The formula, as a section ``functions`` of a model file could say it."""
        assert isinstance(self.op.own, Definition)
        return self.op.own.text

    def __repr__(self) -> str:
        return f"<function by formula: {self.formula}>"


@answered
def function(
    function: Function | None = None,
    /,
    *,
    domain: str = "energy",
    name: str = "",
    params: str = "",
    reach: Declared | Sequence[Declared] | None = None,
    tail: Declared | Sequence[Declared] | None = None,
    inputs: str = "",
) -> Any:
    """Lets models name a Python function, which is traced to a formula and runs in C.

    ::

        @pyspec.function(domain="energy", params="A, x0, w>0")
        def Skew(x, A, x0, w):
            u = (x - x0) / w
            return A * np.exp(-(u**2)) * (1 + special.erf(u))

    Parameters
    ----------
    function : ``f(x, *params)`` on the axis and numbers: arithmetic, comparisons, ``np.where`` and
        NumPy's and SciPy's elementary functions, but no `if` on values
    domain : "energy" for a component, "time" for a law of motion, "profile" for a function of the
        auxiliary axis, "kernel" for one of the time difference that a law is convolved with
    name : what a model file writes; by default the name of the function
    params : the parameters in the order of the arguments with bounds and units,
        ``"A, x0 [eV], w>0"``; by default the names of the arguments
    reach : of a kernel how far it extends, ``f(*params)``; a formula such as ``"20 * w"`` or a
        number will do; or two of these, for earlier and for later samples
    tail : of a kernel its integral from a distance d to infinity, ``f(d, *params)``, or alike
    inputs : the last arguments, if they are arrays along the axis: ``"ref"``. These arrays are
        given with the data

    Decorating another function of the same name replaces it. Derivatives are exact. The formula is
    compared with the function at a few points.

    Raises :class:`ModelError` for what has no formula; :func:`pyspec.register_function` takes any
    Python function. Processes started by "spawn" must import the module that has the function.
    """
    declared = {"reach": reach, "tail": tail}
    parts = {part: declaration for part, declaration in declared.items() if declaration is not None}
    trace = functools.partial(
        _trace, domain=domain, name=name, params=params, parts=parts, inputs=inputs
    )
    return trace if function is None else trace(function)


def _trace(
    function: Function,
    domain: str,
    name: str,
    params: str,
    parts: Mapping[str, Declared | Sequence[Declared]],
    inputs: str,
) -> Traced:
    name = name or getattr(function, "__name__", "")
    if domain not in DOMAINS:
        raise ModelError(f"{name}: unknown domain {domain!r}; there are {', '.join(DOMAINS)}")
    axis = DOMAINS[domain][2]
    names = _arguments(function, name)
    read = _names(inputs)
    arguments = names[: len(names) - len(read)]
    if names[len(arguments) :] != read:
        raise ModelError(f"{name}: inputs={inputs!r} must name its last arguments, in this order")
    if params and _names(params) != arguments:
        raise ModelError(
            f"{name}: params={params!r} must name {', '.join(arguments)}, in this order"
        )
    nodes = [placeholder(axis), *(placeholder(argument) for argument in names)]
    lines, text = _traced_text(function, nodes, name)
    declared: list[tuple[str, str]] = []
    called = {"": function}
    for part, declaration in _declared(parts, domain, name):
        if callable(declaration):
            seen = nodes if part.startswith("tail") else nodes[1:]
            own, written = _traced_text(declaration, seen, name, part, {key for key, _ in lines})
            lines += own
            called[part] = declaration
        else:
            written = str(declaration)
        declared.append((part, written))
    doc = (inspect.getdoc(function) or "").partition("\n")[0].replace(" -- ", " - ")
    named = params or ", ".join(arguments)
    op = define(write(domain, name, named, text, lines, doc, declared, inputs), name)
    if name in OPS:  # registered before
        raise ModelError(f"{name!r} is a registered function; choose another name")
    _check(op, called)
    FORMULAS[name] = op
    return Traced(function, op)


def _names(text: str) -> list[str]:
    """The names in a text of parameters, or of inputs."""
    return [param_name(part) for part in text.split(",") if part.strip()]


def _declared(
    parts: Mapping[str, Declared | Sequence[Declared]], domain: str, name: str
) -> list[tuple[str, Declared]]:
    """What a kernel declares besides its formula: one for both sides, or one for each."""
    if parts and domain != KERNEL:
        raise ModelError(
            f"{name}: {next(iter(parts))} belongs to a kernel; write domain='kernel', or leave it "
            "out"
        )
    declarations: list[tuple[str, Declared]] = []
    for part in PARTS:
        declared = parts.get(part, ())
        sides = declared if isinstance(declared, (tuple, list)) else (declared,)
        if part in parts and len(sides) not in (1, len(SIDES)):
            raise ModelError(f"{name}: {part}: give one, or two: for earlier and for later samples")
        for declaration in sides:
            number = isinstance(declaration, (int, float)) and not isinstance(declaration, bool)
            text = isinstance(declaration, str)
            if not (callable(declaration) or text or (number and np.isfinite(declaration))):
                raise ModelError(
                    f"{name}: {part}={declaration!r}: give a function of the parameters, a formula "
                    "as text, or a number"
                )
        names = [part] if len(sides) == 1 else [f"{part}_{side}" for side in SIDES]
        declarations += zip(names, sides, strict=False)
    return declarations


def _traced_text(
    function: Function,
    inputs: list[placeholder],
    name: str,
    part: str = "",
    taken: Collection[str] = (),
) -> tuple[list[tuple[str, str]], str]:
    """The formula of a function: helper lines, none of them called as one in `taken`, and text."""
    root = _called(function, inputs, name, part)
    return formula_text(root, {node: node.name for node in inputs}, taken)


def _arguments(function: Function, name: str) -> list[str]:
    """The names of the parameters: all arguments but the first."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ModelError(f"{name or function!r}: give a Python function f(x, *params)") from None
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(parameters) < 2 or any(parameter.kind not in plain for parameter in parameters):
        raise ModelError(f"{name}: write its parameters one by one, def {name}(x, A, x0)")
    return [parameter.name for parameter in parameters[1:]]


def _called(function: Function, inputs: list[placeholder], name: str, part: str) -> Node:
    remedy = "; write what NumPy can do, or use pyspec.register_function, which takes any function"
    if part:
        name, remedy = f"{name}: {part}", "; write what NumPy can do, or a formula as text"
    try:
        root = function(*inputs)
    except ModelError as error:
        raise ModelError(f"{name}: {error}{remedy}") from None
    except (TypeError, AttributeError, ValueError, IndexError) as error:
        # Of a function of an array that holds a node, and of np.asarray(x, dtype=float).
        if "no callable" in str(error) or str(error).startswith("float() argument"):
            remedy = "; leave np.asarray and np.array out, a node stands for an array" + remedy
        raise ModelError(f"{name}: cannot be traced: {error}{remedy}") from error
    if isinstance(root, np.ndarray) and root.shape == ():
        root = root.item()
    if part and isinstance(root, (int, float, np.number)):
        return constant(float(root))
    if not isinstance(root, Node):
        raise ModelError(
            f"{name}: returns {type(root).__name__} in place of a value of its arguments{remedy}"
        )
    return root


def _check(op: OpDef, called: Mapping[str, Function]) -> None:
    """The formulas say what the functions do, where these are finite: the value "" and what a
    kernel declares."""
    values = [_VALUES[k % len(_VALUES)] + 0.01 * k for k in range(len(op.params))]
    own = op.own
    assert isinstance(own, Definition)
    formulas = {"": own.value, **dict(own.parts)}
    inputs = [0.3 + 0.1 * k + np.cos(_POINTS) for k in range(len(own.inputs))]
    inputs_by_name = dict(zip(own.inputs, inputs, strict=True))
    for part, function in called.items():
        # Copies: the function may write into what it gets.
        along = [] if part.startswith("reach") else [_POINTS.copy()]
        arguments = [*along, *values, *np.copy(inputs)]
        with np.errstate(all="ignore"):
            shown = own.evaluate(formulas[part], _POINTS, values, inputs_by_name)
            result = np.broadcast_to(shown, _POINTS.shape)
            wanted = np.broadcast_to(np.asarray(function(*arguments), np.float64), _POINTS.shape)
        judged = np.isfinite(result) & np.isfinite(wanted)
        scale = np.abs(wanted[judged]).max(initial=1e-300)
        remedy = ""
        if (np.abs(result[judged] - wanted[judged]) > 1e-9 * scale).any():
            remedy = "a function of more than its arguments at each point has no formula"
        elif (np.isfinite(wanted) & ~np.isfinite(result)).any():
            remedy = "write it without what divides by 0 or overflows, as a width of 0 does"
        if remedy:
            raise ModelError(
                f"{op.name}{part and f': {part}'}: the formula traced from it gives {result}, the "
                f"function {wanted} at {_POINTS}; {remedy}"
            )


# ---- text -------------------------------------------------------------------------------------


def formula_text(
    root: Node, names: Mapping[Node, str], taken: Collection[str] = ()
) -> tuple[list[tuple[str, str]], str]:
    """A node as a formula: helper lines, one for each value that is used twice, and the text of
    the result. `names` are those of the placeholders; no line is called as one in `taken`.

    Raises :class:`ModelError` for nodes that formulas do not have: calls of functions by name.
    """
    nodes = linearize.forest(root)
    used = Counter(operand for node in nodes for operand in set(node.operands))
    texts: dict[Node, tuple[str, int]] = {}
    lines: list[tuple[str, str]] = []
    avoided = {*names.values(), *taken}
    for node in nodes:
        text, depth = _text(node, texts, names)
        if not is_leaf(node) and node is not root and (used[node] > 1 or depth > _DEEPEST):
            own = f"u{len(lines) + 1}"
            while own in avoided:
                own += "_"
            avoided.add(own)
            lines.append((own, _bare(text)))
            text, depth = own, 0
        texts[node] = text, depth
    text = texts[root][0]
    return lines, text if is_leaf(root) else _bare(text)


def _bare(text: str) -> str:
    """Without the parentheses around an operation."""
    return text[1:-1] if text.startswith("(") else text


def _text(
    node: Node, texts: Mapping[Node, tuple[str, int]], names: Mapping[Node, str]
) -> tuple[str, int]:
    if isinstance(node, placeholder):
        if node not in names:
            raise ModelError(f"{node.label}: no input of the formula; give it as an argument")
        return names[node], 0
    if isinstance(node, constant):
        value = float(node.value)
        if not np.isfinite(value):
            raise ModelError(f"{node.label}: {value} cannot be written in a formula")
        short = value.is_integer() and abs(value) < 1e15 and value != 0
        text = str(int(value)) if short else repr(value)
        return f"({text})" if np.signbit(value) else text, 0
    if isinstance(node, (cumsum, total)):
        inner, depth = texts[node.operands[0]]
        return f"{'sum' if isinstance(node, total) else 'cumsum'}({inner})", 1 + depth
    row = RPN.get(node.instruction)
    if row is None or not row.symbol:
        raise ModelError(f"{node.label}: {type(node).__name__} has no formula; write it as nodes")
    operands = [texts[operand][0] for operand in node.operands]
    depth = 1 + max(texts[operand][1] for operand in node.operands)
    return instruction_text(row, operands), depth
