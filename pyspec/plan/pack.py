"""pack: from the plan's arrays to the plan memory that the C loop reads.

The memory is one contiguous, read-only array of bytes. It has a header, op nodes and 64-bit words
(parameter rows, guards, programs). The op nodes are a NumPy structured array whose dtype the
library describes. Nodes address words by offset, so the memory can be saved, hashed and sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyspec._library import ABI, CONSTANTS, DTYPES, LIBRARY, RPN, TABLES, OpDef
from pyspec._library.memory import address, record
from pyspec.calls import answered
from pyspec.errors import PlanError
from pyspec.model.build.inputs import ALONG, axis_of, inputs_of
from pyspec.passes import Pace
from pyspec.plan.columns import choose_columns
from pyspec.plan.scheduled import (
    ADD_SLOT,
    INPUT_FIELDS,
    NO_BASE,
    OPS_BY_INDEX,
    RESOLVE_DYNAMICS,
    RESOLVE_EXPRESSION,
    RESOLVE_PROFILE,
    ScheduledPlan,
)
from pyspec.plan.stages import PROBLEM, find_stages

_N_INPUTS = tuple(f"n_{field}" for field in INPUT_FIELDS)
FLAG_STORE = CONSTANTS["FLAG_STORE"]
FLAG_STATIC = CONSTANTS["FLAG_STATIC"]
FLAG_SHAPE = CONSTANTS["FLAG_SHAPE"]
COMPARISON_CODES = {
    ">": CONSTANTS["GUARD_GT"],
    ">=": CONSTANTS["GUARD_GE"],
    "<": CONSTANTS["GUARD_LT"],
    "<=": CONSTANTS["GUARD_LE"],
}


@dataclass(frozen=True, eq=False)
class PackedPlan:
    """The plan memory, checked by the library."""

    memory: npt.NDArray[np.uint8] = field(repr=False)
    labels: tuple[str, ...]

    @cached_property
    def address(self) -> int:
        """Address of the memory; valid as long as this object lives."""
        return address(self.memory)

    @cached_property
    def apart(self) -> bool:
        """Whether sums over energies and times may be taken apart (csrc/separable/separable.c)."""
        return int(self.header["separable"]) >= 0

    def __getstate__(self) -> dict[str, object]:
        return {"memory": self.memory, "labels": self.labels}  # another address elsewhere

    @property
    def header(self) -> np.void:
        """The head of the memory, as a view."""
        size = DTYPES["pyspec_plan"].itemsize
        head: np.void = self.memory[:size].view(DTYPES["pyspec_plan"])[0]
        return head

    def nodes(self) -> npt.NDArray[np.void]:
        """The op nodes, as a view."""
        header = self.header
        begin = int(header["nodes"])
        end = begin + int(header["n_nodes"]) * DTYPES["pyspec_node"].itemsize
        return self.memory[begin:end].view(DTYPES["pyspec_node"])


class _Packer:
    def __init__(self, plan: ScheduledPlan) -> None:
        self.plan = plan
        self.words: list[int] = []
        self.nodes: list[dict[str, int]] = []
        self.labels: list[str] = []
        self.n_spectra = 0
        self.stack_depth = 0  # of the deepest program
        self.late: set[int] = set()  # traces that are not resolved before the first row

    def node(self, step: str, label: str, **fields: int) -> None:
        """Adds a node; what it does not say is unset."""
        unset = {"step": CONSTANTS[f"STEP_{step}"], "op": -1, "mask": -1, "source": -1, "repeat": 1}
        self.nodes.append({**unset, **fields, "label": len(self.labels)})
        self.labels.append(label)

    def function(self, op: OpDef, rows: list[int]) -> dict[str, int]:
        """Words and fields of a node that calls a function."""
        params = len(self.words)
        self.words.extend(rows)
        guards = len(self.words)
        for guard in op.guards:
            other = int(guard.other) if guard.relative else -1
            constant = 0.0 if guard.relative else guard.other
            bits = int(np.float64(constant).view(np.int64))
            self.words.extend([guard.param, COMPARISON_CODES[guard.comparison], other, bits])
        program = {}
        if op.own is not None:
            program = {"code": len(self.words), "n_code": len(op.own.words)}
            self.words.extend(op.own.words.tolist())
        if inputs_of(op):
            names = self.plan.input_names[tuple(ALONG).index(axis_of(op))]
            program["inputs"] = len(self.words)
            self.words.extend(names.index(name) for name in inputs_of(op))
        return {
            **program,
            "op": op.index,
            "n_params": len(rows),
            "params": params,
            "guards": guards,
            "n_guards": len(op.guards),
        }

    def dynamics(self, group: int) -> None:
        plan = self.plan
        target = int(plan.dyn_group_target_row[group])
        name = plan.row_names[target]
        begin, end = plan.dyn_group_indptr[group : group + 2]
        for sub in range(begin, end):
            op = plan.op(int(plan.dyn_sub_func_id[sub]))
            if op.external:
                row = int(plan.dyn_sub_external[sub])
                self.external_trace(name, target, row, sub == begin)
                continue
            rows = plan.dyn_sub_param_rows[sub, : plan.dyn_sub_n_params[sub]].tolist()
            called = self.function(op, rows)
            label = f"{name} ({op.name})"
            if op.kind == "KERNEL":
                self.node("CONVOLVE", label, target=target, **called)
                continue
            where = {"axis": int(plan.dyn_sub_axis[sub]), "mask": int(plan.dyn_sub_mask[sub])}
            flags = FLAG_STORE if sub == begin else 0
            self.node("LAW", label, flags=flags, target=target, **called, **where)
        self.base(name, target, int(plan.dyn_group_base_row[group]), 1)

    def external_trace(self, name: str, target: int, row: int, store: bool) -> None:
        """Takes over, or adds, a trace that Python fills."""
        if not store:
            self.node("BASE", name, target=target, source=row)
            return
        self.program(name, target, [RPN["PARAM"].index, row], 1, 1)

    def base(self, name: str, target: int, base: int, repeat: int) -> None:
        if base != NO_BASE:
            self.node("BASE", name, target=target, source=base, repeat=repeat)

    def profile(self, group: int) -> None:
        plan = self.plan
        target = int(plan.prof_group_target_row[group])
        name = plan.row_names[target]
        begin, end = plan.prof_group_indptr[group : group + 2]
        for sub in range(begin, end):
            op = plan.op(int(plan.prof_sub_func_id[sub]))
            rows = plan.prof_sub_param_rows[sub, : plan.prof_sub_n_params[sub]].tolist()
            called = self.function(op, rows)
            flags = FLAG_STORE if sub == begin else 0
            label = f"{name} ({op.name})"
            self.node("PROFILE", label, flags=flags, target=target, repeat=plan.n_aux, **called)
        self.base(name, target, int(plan.prof_group_base_row[group]), plan.n_aux)

    def expression(self, index: int) -> None:
        plan = self.plan
        target = int(plan.expr_target_rows[index])
        program = plan.expr_code[plan.expr_indptr[index] : plan.expr_indptr[index + 1]]
        repeat = plan.n_aux if target >= plan.samples else 1
        depth = int(plan.expr_depth[index])
        self.program(plan.row_names[target], target, program.ravel().tolist(), depth, repeat)

    def program(self, name: str, target: int, words: list[int], depth: int, repeat: int) -> None:
        """Instructions, each with its operand, that need a stack of so many values."""
        fields = {"code": len(self.words), "n_code": len(words) // 2, "repeat": repeat}
        self.node("EXPRESSION", name, target=target, **fields)
        self.words.extend(words)
        self.stack_depth = max(self.stack_depth, depth)

    def op(self, index: int) -> None:
        plan = self.plan
        flags = FLAG_STORE if plan.op_store[index] else 0
        slots = {
            "source": int(plan.op_source_slot[index]),
            "target": int(plan.op_target_slot[index]),
        }
        if plan.op_kinds[index] == ADD_SLOT:
            self.node("ADD", plan.op_names[index], flags=flags, **slots)
            return
        op = plan.op(int(plan.op_kinds[index]))
        if op.external:
            slots["source"] = self.n_spectra
            self.n_spectra += 1
            self.node("EXTERNAL", plan.op_names[index], flags=flags, **slots)
            return
        begin, end = plan.op_param_indptr[index : index + 2]
        rows = plan.op_param_indices[begin:end].tolist()
        pace = int(plan.op_pace[index])
        # A trace of laws that are 0 does not move, but is resolved as if it did.
        if pace == Pace.STATIC and not op.spectrum_fed and self.late.isdisjoint(rows):
            flags |= FLAG_STATIC
        elif pace == Pace.HEIGHT and self.late.isdisjoint(rows[1:]):
            flags |= FLAG_SHAPE
        called = self.function(op, rows)
        repeat = plan.n_aux if plan.op_sampled[index] else 1
        self.node(
            "COMPONENT",
            plan.op_names[index],
            flags=flags,
            repeat=repeat,
            **called,
            **slots,
        )

    def columns(self) -> int:
        """Writes in which columns derivatives are summed; where that stands."""
        rows = choose_columns(self.plan)
        of_row = [-1] * self.plan.n_params
        for column, row in enumerate(rows):
            of_row[row] = column
        begin = len(self.words)
        self.words.extend([len(rows), *rows, *of_row])
        return begin

    def heights(self, n_resolve: int) -> int:
        """Writes the trace rows that move the heights of a separable plan. Returns their offset, or
        -1 if a component was packed in another moving form."""
        rows: list[int] = []
        for node in self.nodes[n_resolve:]:
            if node["step"] == CONSTANTS["STEP_ADD"]:
                continue
            called = self.words[node["params"] : node["params"] + node["n_params"]]
            if node["flags"] & FLAG_SHAPE:
                rows += [called[0]] if called[0] not in rows else []
            elif node["op"] >= 0 and OPS_BY_INDEX[node["op"]].spectrum_fed:
                if not self.late.isdisjoint(called):
                    return -1
            elif not node["flags"] & FLAG_STATIC:
                return -1
        begin = len(self.words)
        self.words.extend([len(rows), *rows])
        return begin


@answered
def pack(plan: ScheduledPlan) -> PackedPlan:
    """Packs and checks a plan. Raises PlanError that names the node and field at fault."""
    packer = _Packer(plan)
    pack_step = {
        RESOLVE_DYNAMICS: packer.dynamics,
        RESOLVE_EXPRESSION: packer.expression,
        RESOLVE_PROFILE: packer.profile,
    }
    for kind, index in zip(plan.resolution_kinds, plan.resolution_indices, strict=True):
        pack_step[int(kind)](int(index))
    n_resolve = len(packer.nodes)
    n_inputs = len(plan.opt_param_names) + len(plan.fixed_names)
    n_external = int((plan.dyn_sub_external >= 0).sum())
    external = range(n_inputs, n_inputs + n_external)
    stages = find_stages(packer.nodes, packer.words, external)
    for node, stage in zip(packer.nodes, stages, strict=True):
        node["stage"] = stage
        if stage != PROBLEM:
            packer.late.add(node["target"])
    depends = len(packer.words)
    packer.words.extend([*plan.row_theta_indptr.tolist(), *plan.row_theta.tolist()])
    for index in range(plan.n_ops):
        packer.op(index)
    columns = packer.columns()
    separable = packer.heights(n_resolve) if plan.separable and plan.n_ops else -1

    nodes = np.zeros(len(packer.nodes), DTYPES["pyspec_node"])
    for row, node in zip(nodes, packer.nodes, strict=True):
        for name, value in node.items():
            row[name] = value
    words = np.array(packer.words, dtype=np.int64)
    header = np.zeros(1, DTYPES["pyspec_plan"])
    size = header.nbytes + nodes.nbytes + words.nbytes
    contents: dict[str, int | bool] = {
        "abi": ABI,
        "size": size,
        "dimension": 2 if plan.is_trace else plan.dimension,
        "n_theta": len(plan.opt_param_names),
        "n_fixed": len(plan.fixed_names),
        "n_traces": plan.n_params,
        "n_nodes": len(nodes),
        "n_resolve": n_resolve,
        "n_slots": plan.n_slots,
        "result": plan.result_slot,
        "stack_depth": packer.stack_depth,
        "nodes": header.nbytes,
        "words": header.nbytes + nodes.nbytes,
        "n_words": words.size,
        "n_external": n_external,
        "n_spectra": packer.n_spectra,
        "n_axes": len(plan.dyn_time_axes),
        "n_masks": len(plan.dyn_masks),
        "n_aux": plan.n_aux,
        **dict(zip(_N_INPUTS, map(len, plan.input_names), strict=True)),
        "samples": plan.samples,
        "trace": plan.result_row,
        "depends": depends,
        "columns": columns,
        "separable": separable,
    }
    for name, value in contents.items():
        header[name] = value
    memory = np.zeros(-(-size // 8), dtype=np.int64).view(np.uint8)[:size]
    memory[:] = np.frombuffer(header.tobytes() + nodes.tobytes() + words.tobytes(), np.uint8)
    memory.setflags(write=False)
    packed = PackedPlan(memory, tuple(packer.labels))
    check(packed, plan.name)
    return packed


def check(packed: PackedPlan, name: str, problem: int | None = None) -> None:
    """Has the library verify the plan memory and, at an address, the problem."""
    arguments = packed.address, packed.memory.size, problem
    if LIBRARY.pyspec_check(*arguments, None):
        fault = record("pyspec_fault", {})
        status = LIBRARY.pyspec_check(*arguments, address(fault))
        code, message = TABLES.statuses[int(status)]
        index, row = int(fault[0]["node"]), int(fault[0]["field"])
        struct, field_name = TABLES.fields[row] if row >= 0 else ("plan", "")
        where = f"node {index}" if index >= 0 else struct
        if 0 <= index < len(packed.labels):
            where += f" ({packed.labels[index]})"
        raise PlanError(
            f"{name or 'plan'}: {where}, field {field_name} = {int(fault[0]['value'])}: "
            f"{message} ({code})"
        )
