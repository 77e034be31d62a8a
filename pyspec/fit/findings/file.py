"""One file at the end of a fit, as the checks of findings see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pyspec.fit.part import FitPart
from pyspec.fit.results.ended import EndedFit
from pyspec.model import Par
from pyspec.model.build.check import followed


class FileEnd:
    """One file at the end of a fit, with values and errors by its own names.

    Attributes
    ----------
    result, problem : of all files, and of this one
    names : own name → name in the result
    values, errors : of all parameters; an error is None where there is none
    """

    def __init__(self, result: EndedFit, problem: FitPart, names: Mapping[str, str]) -> None:
        self.result, self.problem, self.names = result, problem, names
        values, errors = result.values, result.stderr  # made anew at each look
        self.values = {own: values[name] for own, name in names.items() if name in values}
        self.errors = {own: errors[name] for own, name in names.items() if name in errors}

    @classmethod
    def all_of(cls, result: EndedFit) -> list[FileEnd]:
        """Those of a fit."""
        return [cls(result, problem, names) for problem, names in result.problem.named_files]

    def ends_of(self, own: Iterable[Par]) -> set[str]:
        """The names of the parameters that `own` are, or end in through expressions, but for fixed
        ones."""
        return {par.name for par in self.followed(own) if par.vary}

    def followed(self, own: Iterable[Par]) -> Iterator[Par]:
        """`own`, what they follow, and so on."""
        return followed(own, self.problem.parameters)
