"""The model tree: what a person wrote, with its axes and its dynamics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting, answered
from pyspec.errors import CallError, ModelError
from pyspec.formula import Formula
from pyspec.model.build.check import check_parameters, refuse_idle, used_names
from pyspec.model.build.describe import Description, Value
from pyspec.model.build.edit import change
from pyspec.model.build.inputs import place
from pyspec.model.data.axes import UNCHANGED, Unchanged
from pyspec.model.guess.values import guess_values
from pyspec.model.late_import import late_import
from pyspec.model.model_tree import Copier, Memo, ModelTree, with_parts
from pyspec.model.parts import parts_of
from pyspec.model.sampling import terms
from pyspec.model.show import html_table, parameter_cells
from pyspec.model.tree import Component, Dynamics, Par, Profile, parameters_of, refuse_many
from pyspec.model.yaml.scalars import given_number
from pyspec.model.yaml.to_yaml import model_text, whole_text, write_model

Array = npt.NDArray[np.float64]


class Model(ModelTree, Suggesting):
    """Components with their parameters, and how these move.

    Components combine in reverse file order; one that reads the spectrum (Shirley) reads what
    was combined before it. Made by :func:`pyspec.model.load_models`, or in Python from components
    of :mod:`pyspec.components`: ``Model("au", [Offset(10), Gauss(20, 84, SD=1)])``, with
    `quantities` by name, ``{"width": 1.5}``.
    """

    @answered
    def __init__(
        self,
        name: str,
        components: Sequence[Component] | Sequence[Description],
        text: str = "",
        where: str = "",
        quantities: Sequence[Par] | Mapping[str, Value] = (),
    ) -> None:
        if not components:
            raise ModelError(f"{where or name}: a model needs at least one component")
        refuse_many(len(components), where or name)
        self.name = name
        self.components, own = parts_of(name, components, quantities)
        for component in self.components:
            component.owner = self
        self.quantities = tuple(own)
        self.text = text or model_text(name, self.components, own)
        self.where = where
        self.energy: Array | None = None
        self.time: Array | None = None
        self.aux: Array | None = None
        self.aux_weights: Array | None = None
        self.inputs: dict[str, Array] = {}
        self.labels: dict[str, str] = {}
        self.units: dict[str, str] = {}
        self.elsewhere: Mapping[str, Formula] = {}
        owned = [*parameters_of(self.components), *self.quantities]
        check_parameters(with_parts(owned), complete=False)

    def __repr__(self) -> str:
        axes_by_name = (("energy", self.energy), ("time", self.time))
        axes = [f"{name} {axis.size}" for name, axis in axes_by_name if axis is not None]
        moved = sum(par.dynamics is not None for par in self.parameters.values())
        return (
            f"<Model {self.name!r}: {', '.join(c.name for c in self.components)}; "
            f"{len(self.opt_param_names)} of {len(self.parameters)} parameters free, "
            f"{moved} moving; axes: {', '.join(axes) or 'none'}>"
        )

    @answered
    def set_values(self, values: Mapping[str, float]) -> None:
        """Sets values by name; all or, on an error, none. Bounds are not applied.

        Raises :class:`ModelError` for an unknown name, a parameter that follows an expression,
        or a value that is not a finite number.
        """
        accepted: list[tuple[Par, float]] = []
        for name, value in values.items():
            par = self._par(name)
            if par.formula is not None:
                raise ModelError(
                    f"{par.place}: {name} follows the expression {par.expr!r}; "
                    f"set {' or '.join(par.formula.names) or 'another parameter'} instead"
                )
            number = given_number(value)
            if not math.isfinite(number):
                raise ModelError(f"{par.place}: {value!r} is not a finite number; give one")
            accepted.append((par, number))
        for par, number in accepted:
            par.value = number

    @answered
    def set(
        self,
        name: str,
        value: float | None = None,
        *,
        min: float | Unchanged | None = UNCHANGED,
        max: float | Unchanged | None = UNCHANGED,
        vary: bool | str | None = None,
        expr: str | None = None,
    ) -> None:
        """Changes the entry of one parameter; on an error the model is unchanged.

        None opens a bound. `vary` is True, False or "project" (free, and shared by all files).
        `expr` makes the parameter follow others; ``expr=""`` with a value removes its expression.

        Raises :class:`ModelError` as the loader does for a model file.
        """
        change(self, self._par(name), value, min, max, vary, expr)

    def copy(self) -> Model:
        """A model of its own with the same parts and axes, as ``copy.copy`` makes it, too."""
        return Copier().whole(self)

    __copy__ = copy

    def __deepcopy__(self, memo: Memo) -> Model:
        return Copier(memo).whole(self)

    def to_yaml(self, path: str | Path | None = None) -> str:
        """The text of a model file that loads as this model, with its dynamics and profiles (the
        section ``attached``). It is written to `path` if given."""
        text = whole_text(self)
        if path is not None:
            write_model(Path(path), text)
        return text

    @answered
    def guess(self, data: npt.ArrayLike) -> dict[str, float]:
        """Sets start values read off a spectrum (n_energy,), or off the mean of a series (n_time,
        n_energy), with one to four peaks on a background. Returns them.

        Raises :class:`DataError` or :class:`ModelError` where it cannot; nothing is set then.
        """
        values = guess_values(self, data)
        self.set_values(values)
        return values

    @answered
    def predict(
        self,
        energy: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
        backend: str = "compiled",
    ) -> Array:
        """The model on other axes, (n_energy,) or (n_time, n_energy); None takes its own.

        What sums over a grid (Shirley, kernels such as gaussCONV) is computed on the model's own
        axes and interpolated. Raises :class:`DataError` outside of these.
        """
        parts = [term.taken(term.model.evaluate(backend)) for term in terms(self, energy, time)]
        return np.asarray(sum(parts))

    @answered
    def set_axes(
        self,
        energy: npt.ArrayLike | Unchanged | None = UNCHANGED,
        time: npt.ArrayLike | Unchanged | None = UNCHANGED,
        aux: npt.ArrayLike | Unchanged | None = UNCHANGED,
        aux_weights: npt.ArrayLike | None = None,
        inputs: Mapping[str, npt.ArrayLike] | None = None,
    ) -> None:
        """Sets the axes that are named; None removes one. The model keeps read-only copies.

        The energy axis and the auxiliary one of profiles rise or fall all the way, the time axis
        rises. `aux_weights` (n_aux,) weigh the average, equal ones without; they are scaled to sum
        1. `inputs`, name → one value for each point, are further arrays that functions by formula
        read; they are dropped when their axis changes. Raises :class:`DataError` for axes that
        cannot be used.
        """
        place(self, energy, time, aux, aux_weights, inputs)

    @answered
    def add_dynamics(self, par_name: str, dynamics: Dynamics) -> None:
        """Lets a parameter move: ``p(t) = value + D(t)``. On an error the model is unchanged.

        Raises :class:`ModelError` for a parameter that is unknown, has dynamics, follows an
        expression or belongs to a law, and where a parameter of a law would move.
        """
        par = self._to_move(par_name, dynamics, "dynamics")
        laws = [p.dynamics for p in self.parameters.values() if p.dynamics is not None]
        if self.is_time_model or any(par in law.parameters for law in laws):
            raise ModelError(
                f"{par.place}: {par_name} belongs to a time law and cannot have dynamics; add "
                "the law to the dynamics model itself"
            )
        self._keep(par, "dynamics", dynamics)

    @answered
    def add_profile(self, par_name: str, profile: Profile) -> None:
        """Lets a parameter differ along the auxiliary axis: ``p(aux) = value + P(aux)``. On an
        error the model is unchanged.

        Raises :class:`ModelError` for a parameter that is unknown, has a profile, follows an
        expression, or belongs to a law or a profile.
        """
        par = self._to_move(par_name, profile, "profile")
        if self.is_time_model or not any(
            par in component.parameters for component in self.components
        ):
            raise ModelError(
                f"{par.place}: {par_name} belongs to a time law or a profile and cannot have a "
                "profile; add the function to the profile model itself"
            )
        self._keep(par, "profile", profile)

    def _to_move(self, name: str, part: Dynamics | Profile, kind: str) -> Par:
        """The parameter that gets "dynamics" or a "profile", which were loaded for it."""
        wanted = Dynamics if kind == "dynamics" else Profile
        if not isinstance(part, wanted):
            raise CallError(
                f"add_{kind}: takes a {wanted.__name__}, not {part!r}; load it first: "
                f"load_{kind}('models.yaml', 'name', {name!r})"
            )
        par = self._par(name)
        if part.target != name:
            raise ModelError(
                f"{part.where}: {part.name}: was loaded for {part.target}, not for {name}; load it "
                f"again with target={name!r}"
            )
        if par.formula is not None:
            sources = ", ".join(par.formula.names) or "nothing"
            own = "dynamics" if kind == "dynamics" else "a profile"
            raise ModelError(
                f"{par.place}: {name} follows the expression {par.expr!r} and cannot have {own} of "
                f"its own; add to what it refers to ({sources}), or give it a value instead of the "
                "expression"
            )
        before = getattr(par, kind)
        if before is not None:
            raise ModelError(
                f"{par.place}: {name} already has the {kind} {before.name!r}; put all of it into "
                "one model, or load this model again to begin without it"
            )
        return par

    def _keep(self, par: Par, kind: str, part: Dynamics | Profile) -> None:
        """Gives a parameter a part and checks the model; on an error it has none."""
        setattr(par, kind, part)
        try:
            check_parameters(self.parameters, complete=False)
        except ModelError:
            setattr(par, kind, None)
            raise

    def at_rest(self) -> Model:
        """A copy without any motion, for one spectrum: every parameter keeps its static value.

        Parameters of laws go with the laws, unless an expression of what remains names them.
        """
        still = self.copy()
        laws: dict[str, Par] = {}
        for par in [*still.parameters.values(), *still.quantities]:
            if par.dynamics is not None:
                laws.update((law.name, law) for law in par.dynamics.parameters)
                par.dynamics = None
        named = {**{par.name: par for par in still.quantities}, **laws}
        needed = used_names(still.parameters.values(), named)
        still.quantities = (*still.quantities, *(laws[name] for name in laws if name in needed))
        return still

    def check(self) -> None:
        """Verifies that the model is complete: every name in an expression exists, and every
        background that reads a spectrum has one below it.

        Raises :class:`ModelError`.
        """
        check_parameters(self.parameters, complete=True)
        if not self.is_time_model:
            refuse_idle(
                [component for component in self.components if component.op.kind != "RESOLUTION"]
            )

    def evaluate(self, backend: str = "compiled", theta: npt.ArrayLike | None = None) -> Array:
        """The spectrum on the model's axes, (n_energy,) or (n_time, n_energy), at the model's
        values, or at `theta`: free values in the order of :attr:`opt_param_names`. Raises
        :class:`BackendError` for an unknown backend."""
        self.check()
        executor = late_import("pyspec.executor", "make_executor")(self, None, backend)
        spectrum: Array = executor.run(self.theta() if theta is None else theta)
        return spectrum

    def describe(self) -> str:
        """A table of all parameters, as text."""
        rows = parameter_cells(self.parameters)
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        unused = [par.name for par in self.quantities if par.name not in self.parameters]
        waiting = [f"not used by what is there: {', '.join(unused)}"] if unused else []
        return "\n".join([repr(self), *lines, *waiting])

    def _repr_html_(self) -> str:
        return html_table(parameter_cells(self.parameters), repr(self).strip("<>"))
