"""Facts that all models of one structure share, computed once: all that a fit asks of a model
except its numbers."""

from __future__ import annotations

from pyspec._library import OPS
from pyspec.functions.slopes import bends
from pyspec.model.build.check import PROFILE, is_idle, movers, resolution_order
from pyspec.model.build.inputs import read_inputs
from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import ops_of


class Outline:
    """What all models of one structure have in common. Nobody changes it.

    Attributes
    ----------
    is_time_model : whether the model is made of time laws alone
    reads : functions that read inputs besides the axes, each with one of these by name
    calls_python : whether a function of the model runs in Python
    has_free : whether amplitudes are free along an axis
    followers : the parameters that follow expressions, each after those it refers to
    is_idle : whether a component at the end of the model, or of what moves a parameter, needs
        something below it
    lines : peaks whose place does not move: name of the component, name of its place
    mixings : the parameters m of lines of the table, which mix a Gaussian, at 0, and a Lorentzian,
        at 1
    onsets : the parameters that are onsets of laws, but for those on sub-cycles
    losses : the first parameter of each background proportional to the spectrum below it, as losses
        are; for these the direction of the axis counts
    sampled : parameters whose dynamics depend on where the samples lie: there is a kernel among
        them, or sub-cycles
    """

    def __init__(self, model: ModelTree) -> None:
        parameters, components = model.parameters, model.components
        # The structure knows them by their identity, those of quantities that wait, too.
        self._ops = ops_of(components, model.quantities)
        self.is_time_model = model.is_time_model
        self.reads = read_inputs(model)
        self.calls_python = any(op.external for op in self._ops)
        self.has_free = any(par.free is not None for par in parameters.values())
        self.followers = tuple([par.name for par in resolution_order(parameters)])
        moved = {n: p.dynamics for n, p in parameters.items() if p.dynamics is not None}
        groups = [components, *(dynamics.components for dynamics in moved.values())]
        self.is_idle = any(map(is_idle, groups))
        peaks = [part for part in components if part.op.kind == "PEAK"]
        self.lines = tuple(
            [
                (peak.name, par.name)
                for peak in peaks
                for par in peak.parameters
                if par.argument == "x0"
                if not (movers(par.name, parameters) or movers(par.name, parameters, PROFILE))
            ]
        )
        own = [peak for peak in peaks if peak.op.name in OPS and not peak.op.external]
        self.mixings = tuple([p.name for peak in own for p in peak.parameters if p.argument == "m"])
        laws = [law for group in groups for law in group if law.subcycle == 0]
        onsets = [par.name for law in laws for par in law.parameters if par.argument == "t0"]
        self.onsets = tuple(dict.fromkeys(onsets))  # states of a scheme have one in common
        losses = [c for c in components if c.op.spectrum_fed and not bends(c.op)]
        self.losses = tuple([component.parameters[0].name for component in losses])
        kernels = {
            name for name, law in moved.items() for c in law.components if c.op.kind == "KERNEL"
        }
        self.sampled = tuple([n for n, law in moved.items() if law.n_subcycles or n in kernels])
