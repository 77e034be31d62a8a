"""``pyspec explain``: what a model means, and what it becomes."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Collection

import numpy as np

from pyspec._library import CONSTANTS, OPS
from pyspec.cli.commands.explain_memory import memory_text
from pyspec.cli.commands.explain_nodes import nodes_text
from pyspec.cli.commands.models import chosen_model, give_axes, passes_behind
from pyspec.cli.json_output import model_facts
from pyspec.executor import make_plan
from pyspec.fit.results.table import text_table
from pyspec.formula import Definition, op_of
from pyspec.formula.program.absorbed import absorbed
from pyspec.ir import GraphIR, build_graph, print_graph
from pyspec.model import Component, Dynamics, Model
from pyspec.model.build.check import movers
from pyspec.model.build.free import free_parameters
from pyspec.model.build.instruments import seen_by, share_text
from pyspec.passes import FORMS, MARKS, classify_columns, linear_parameters
from pyspec.passes import run as run_passes
from pyspec.plan import pack
from pyspec.plot.figures.graph import check_picture, save_picture


def run(args: Namespace) -> int:
    """Prints one model; returns the exit code. ``--after`` names a pass: the graph is printed, and
    drawn into the picture, as it leaves it."""
    last, picture, facts = args.after, args.picture, args.facts
    if picture is not None:
        check_picture(picture)
    behind = frozenset[str]() if last is None else passes_behind(last)
    model = chosen_model(args.path, args.model, args.dynamics, args.profile)
    facts.update(model_facts(model))
    print(f"{model.name}, {model.where}\n")
    for part in (_components(model), _moves(model), _parameters(model), _order(model)):
        if part:
            print(f"{part}\n")
    print(_functions(model))
    asked = ("graph", "plan", "jacobian", "linear", "passes", "nodes", "memory")
    if not (picture or last or any(getattr(args, name) for name in asked)):
        return 0
    give_axes(model)
    built = build_graph(model)
    left = built if last is None else run_passes(built, behind)[0]
    facts["graph"] = built.as_dict()
    if args.jacobian:
        print(f"\n{jacobian_text(model)}")
    if args.linear:
        print(f"\n{linear_text(model)}")
        linear = linear_parameters(built)
        facts["linear"] = {"names": linear.names, "against": linear.against}
    if args.graph:
        print(f"\nGraph, on axes of a few points:\n\n{print_graph(built)}")
    if args.passes or last is not None:
        print(f"\n{passes_text(built, behind)}")
    if last is not None:
        print(f"\nGraph after {last}:\n\n{print_graph(left)}")
    if picture is not None:
        print(f"\nPicture of the graph: {save_picture(left, picture)}")
        facts["picture"] = picture
    if args.plan:
        print(f"\n{plan_text(model)}")
    if args.nodes:
        print(f"\n{nodes_text(model)}")
    if args.memory:
        print(f"\n{memory_text(model)}")
    return 0


def _components(model: Model) -> str:
    """Components in file order, and what each reads."""
    rows = [["component", "kind", "value"]]
    gaussians = seen_by(model.components).rows
    for index, component in enumerate(model.components):
        op = component.op
        shown = op.formula
        if component in gaussians and len(gaussians) > 1:
            shown += f";  share = {share_text(gaussians, gaussians.index(component))}"
        if op.external:
            why = "a registered function" if op.own is None else "it sums over the energies"
            shown += f";  runs in NumPy: {why}"
        if op.spectrum_fed:
            shown += ";  S = " + " + ".join(below.name for below in model.components[index + 1 :])
        if op.kind == "SPECTRUM_FED" and any(p.scope == "project" for p in component.parameters):
            shown += ";  shared: times the mean step of each file over that of the first"
        rows.append([component.name, op.kind.lower().replace("_", "-"), shown])
    return "Components, added up from the last to the first\n" + text_table(rows, "<<<")


def _moves(model: Model) -> str:
    """What moves in time or along the auxiliary axis, as equations."""
    lines = []
    for name, par in model.parameters.items():
        if par.dynamics is not None:
            lines.append(f"  {name}(t) = {name} + {_law_text(par.dynamics)}")
        if par.profile is not None:
            terms = " + ".join(_short(part, par.profile.target) for part in par.profile.components)
            lines.append(f"  {name}(aux) = {name} + {terms}")
    parameters = model.parameters
    follow = [
        f"  {par.name} moves with {', '.join(names)}"
        for par in model.resolution_order()
        if par.formula is not None
        and (names := [name for name in par.formula.names if movers(name, parameters)])
    ]
    return "\n".join(["What moves", *lines, *follow]) if lines else ""


def _law_text(dynamics: Dynamics) -> str:
    """ "gaussCONV ∗ (expFun_01 + stepFun_01)": a kernel turns what stands after it, an instrument
    of several Gaussians is their sum."""
    text = ""
    rows = seen_by(dynamics.components).rows
    for component in reversed(dynamics.components):
        short = _short(component, dynamics.target)
        if component in rows[1:]:
            continue
        if component.op.kind in ("KERNEL", "IRF"):
            if component in rows and len(rows) > 1:
                short = f"({' + '.join(_short(row, dynamics.target) for row in rows)})"
            text = f"{short} ∗ ({text})" if text else short
        else:
            cycle = f" [sub-cycle {component.subcycle}]" if component.subcycle else ""
            text = f"{short}{cycle} + {text}" if text else f"{short}{cycle}"
    pace = f",  {dynamics.frequency:g} cycles per unit of time" if dynamics.n_subcycles else ""
    return f"{text}{pace}" or "nothing"


def _short(component: Component, target: str) -> str:
    return component.name.removeprefix(f"{target}_")


def _parameters(model: Model) -> str:
    rows = [["parameter", "value", "", "min", "max", ""]]
    values = model.values
    for name, par in model.parameters.items():
        kind = "free" if par.vary else "fixed"
        bounds = [f"{par.min:g}", f"{par.max:g}"] if par.vary else ["", ""]
        note = ""
        if par.formula is not None:
            kind, note, bounds = "tied", f"= {par.expr}", ["", ""]
        if par.free is not None:
            kind, note, bounds = "free", f"one for each {par.free.axis}", ["", ""]
        has_value = par.free is None and not math.isnan(values[name])
        rows.append([name, f"{values[name]:.6g}" if has_value else "", kind, *bounds, note])
    n_free = len(model.opt_param_names)
    return f"Parameters, {n_free} free\n" + text_table(rows, "<><>><")


def _order(model: Model) -> str:
    steps = [f"  {k}. {par.name} = {par.expr}" for k, par in enumerate(model.resolution_order(), 1)]
    return "\n".join(["Expressions, in the order they are resolved", *steps]) if steps else ""


def _functions(model: Model) -> str:
    """The functions used, with their formulas."""
    components = list(model.components)
    for par in model.parameters.values():
        for law in (par.dynamics, par.profile):
            components += law.components if law is not None else []
    used = {component.function: component.op for component in components}
    rows = [["function", "parameters", "formula"]]
    rows += [[op.name, ", ".join(op.params), op.formula] for op in used.values()]
    return "Functions\n" + text_table(rows, "<<<")


#: What is said of each class of column.
_CLASSES = {
    "constant": "depends on no free parameter: the same at each step",
    "structured": "known in closed form, different at each step",
    "fallback": "not known in closed form: finite differences, or a search between samples",
}


def jacobian_text(model: Model) -> str:
    """The class of the derivative by each free parameter, and what the words mean."""
    columns = classify_columns(build_graph(model))
    if not columns:
        return "Jacobian: no parameter is free"
    rows = [["column", "class", "form", "reason"]]
    rows += [[column.name, column.kind, column.form, column.reason] for column in columns]
    words = {word for column in columns for word in (column.kind, *column.form.split(", "))}
    meanings = _CLASSES | FORMS | MARKS
    legend = [f"  {word}: {text}" for word, text in meanings.items() if word in words]
    return f"Jacobian, {len(columns)} columns\n" + "\n".join(
        [text_table(rows, "<<<<"), "", *legend]
    )


def linear_text(model: Model) -> str:
    """The free parameters that the model is linear in together, and what stands against others."""
    free = list(free_parameters(model.parameters))
    if free:
        return (
            f"Linear parameters: {', '.join(free)}, free along an axis, are solved for in every "
            "fit; no others are"
        )
    linear = linear_parameters(build_graph(model))
    rows = [["parameter", "", "why not"]]
    rows += [
        [name, "linear" if name in linear.names else "", linear.against.get(name, "")]
        for name in model.opt_param_names
    ]
    if len(rows) == 1:
        return "Linear parameters: no parameter is free"
    title = f"Linear parameters, {len(linear.names)} of {len(rows) - 1}: a fit can eliminate them"
    return f"{title} (linear='eliminate')\n{text_table(rows, '<<<')}"


def passes_text(graph: GraphIR, without: Collection[str] = ()) -> str:
    """What each pass does to a graph; those in `without` are left out."""
    _, _, report = run_passes(graph, without)
    lines = [str(step) for step in report]
    called = dict.fromkeys(node.function_name for node in graph.nodes if node.function_name)
    own = [op_of(name).own for name in called]
    lines += [
        f"  {absorbed(definition)}"
        for definition in own
        if isinstance(definition, Definition) and definition.is_compiled
    ]
    if len(lines) > len(report):
        lines.insert(len(report), "absorb: programs of formulas")
    return "Passes\n" + "\n".join(lines)


def plan_text(model: Model) -> str:
    """The packed plan: rows of the trace matrix, then one line a node."""
    plan = make_plan(model)
    packed = pack(plan)
    header = packed.header
    begin = int(header["words"])
    words = packed.memory[begin : begin + 8 * int(header["n_words"])].view(np.int64)
    names = plan.row_names
    steps = {value: name for name, value in CONSTANTS.items() if name.startswith("STEP_")}
    rows = [["node", "step", "function", "writes", "reads"]]
    for index, node in enumerate(packed.nodes()):
        step = steps[int(node["step"])].removeprefix("STEP_").lower()
        called = words[int(node["params"]) : int(node["params"]) + int(node["n_params"])]
        spectrum = index >= int(header["n_resolve"])
        once = " once" if int(node["flags"]) & CONSTANTS["FLAG_STATIC"] else ""
        rows.append(
            [str(index), step + once, _called(int(node["op"])),
             *_flow(node, spectrum, [int(word) for word in called], names, model)]
        )  # fmt: skip
    kinds = [
        f"{len(plan.opt_param_names)} free (theta)",
        f"{len(plan.fixed_names)} fixed",
        f"{plan.n_params - len(plan.opt_param_names) - len(plan.fixed_names)} computed",
    ]
    memory = f"{packed.memory.size} bytes, {plan.n_slots} spectrum slots"
    return (
        f"Plan: {plan.n_params} rows: {', '.join(kinds)}; {memory}; digest {plan.digest[:12]}\n"
        + text_table(rows, "><<<<")
    )


def _called(op: int) -> str:
    """The function that a node calls."""
    if op == CONSTANTS["OP_FORMULA"]:
        return "formula"
    return list(OPS)[op] if op >= 0 else ""


def _flow(
    node: np.void, spectrum: bool, called: list[int], names: tuple[str, ...], model: Model
) -> list[str]:
    """What a node writes and reads."""
    target, source = int(node["target"]), int(node["source"])
    arguments = ", ".join("-" if row < 0 else names[row] for row in called)
    if spectrum:
        store = "" if int(node["flags"]) & CONSTANTS["FLAG_STORE"] else "+= "
        read = f"slot {source}" if source >= 0 else ""
        reads = "; ".join(part for part in (arguments, read) if part)
        return [f"{store}slot {target}", reads]
    par = model.parameters.get(names[target])
    text = par.expr if par is not None and par.expr else "expression"
    reads = arguments or (names[source] if source >= 0 else text)
    return [names[target], reads]
