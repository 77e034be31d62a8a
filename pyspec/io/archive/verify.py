"""Whether an archive is as it was written, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspec.calls import answered
from pyspec.io.archive import header
from pyspec.io.archive.contents import load_checked
from pyspec.io.archive.file import check_archive, existing
from pyspec.io.archive.salvage import salvage_report
from pyspec.io.optional import need


@dataclass(frozen=True)
class Verification:
    """What :func:`verify_archive` found.

    Attributes
    ----------
    path : the archive
    version : of its format; None where it cannot be told
    trouble : what is wrong with the file as a whole; empty if every byte is as written
    whole : the fits and arrays whose digest holds: "fits/0001", "arrays/3f…"
    damaged : name → what is wrong with it
    """

    path: Path
    version: int | None
    trouble: str
    whole: tuple[str, ...]
    damaged: dict[str, str]

    @property
    def intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.trouble and not self.damaged

    def __str__(self) -> str:
        counts = ", ".join(
            f"{sum(name.startswith(kind) for name in self.whole)} {kind}"
            for kind in ("fits", "arrays")
        )
        version = "version unknown" if self.version is None else f"version {self.version}"
        if self.intact:
            checked = "every byte is as it was written"
            return f"{self.path}: whole ({version}): {checked}; {counts}"
        lines = [f"{self.path}: DAMAGED ({version}): {self.trouble or 'see below'}"]
        lines += [f"  {name}: {why}" for name, why in self.damaged.items()]
        lines += [f"  whole: {counts}", f"  {header.REMEDY}"]
        return "\n".join(lines)


@answered
def verify_archive(path: str | Path) -> Verification:
    """Reads a whole archive and says which of its fits and arrays are as they were written.

    A damaged archive is read by a process with limited memory and time.

    Raises :class:`DataError` for what is no archive, or of an unknown version.
    """
    h5py = need("h5py", "an archive of fits")
    file = existing(path)
    try:
        check_archive(file, file)
        fits, arrays = load_checked(h5py, file)
        whole = [f"fits/{k:04d}" for k in range(1, len(fits) + 1)]
        whole += [f"arrays/{name}" for name in arrays]
        return Verification(file, header.VERSION, "", tuple(whole), {})
    except header.DamageError as error:
        trouble = error.damage
    try:
        report = salvage_report(file)
    except header.DamageError as error:
        return Verification(file, None, trouble or error.damage, (), {})
    return Verification(file, header.VERSION, trouble, report.whole, report.damaged)
