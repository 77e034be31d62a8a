"""Other files that an HDF5 file reads from: external storage, virtual data sets, external links.

The library opens whatever file these name. So they are looked at before anything is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyspec.errors import DataError, one_line, several

if TYPE_CHECKING:
    import h5py

_LINK = "an external link"


def files_elsewhere(h5py: ModuleType, path: Path, file: object) -> list[str]:
    """The files below the folder of `path` that the open `file` reads from.

    Raises :class:`DataError` for external storage, for files elsewhere, and for what is no file or
    not there.
    """
    return sorted(_followed(h5py, path, file, path.resolve().parent, {path.resolve()}))


def _followed(
    h5py: ModuleType, path: Path, file: object, home: Path, visited: set[Path]
) -> Iterator[str]:
    for place, link, name in _references(h5py, path, file):
        for target in _targets(path, place, link, name, home):
            if target in visited:
                continue
            visited.add(target)
            yield str(target.relative_to(home))
            try:
                other = h5py.File(target, "r")
            except OSError as error:
                raise DataError(
                    f"{path}:{place}: reads from {target}, which cannot be opened "
                    f"({one_line(error)}); copy it once more"
                ) from None
            with other:
                yield from _followed(h5py, target, other, home, visited)


def _references(h5py: ModuleType, path: Path, file: h5py.File) -> list[tuple[str, str, str]]:
    """(name in the file, what refers, the file named) of all that lies elsewhere. Asks for no
    shape: that of a virtual data set without end is read from the other files."""
    references: list[tuple[str, str, str]] = []

    def see_link(name: bytes, facts: Any) -> None:
        if facts.type == h5py.h5l.TYPE_EXTERNAL:
            target = file.id.links.get_val(name)[0]
            references.append((_text(name), _LINK, _text(target)))

    def see_object(name: str, item: object) -> None:
        if not isinstance(item, h5py.Dataset):
            return
        facts = item.id.get_create_plist()
        if facts.get_external_count():
            names = [_text(facts.get_external(k)[0]) for k in range(facts.get_external_count())]
            raise DataError(
                f"{path}:{name}: its values lie in another file, {several(names, 3)}, which is not "
                "read; ask for a file that holds them (h5repack writes one)"
            )
        if facts.get_layout() == h5py.h5d.VIRTUAL:
            own = {_text(facts.get_virtual_filename(k)) for k in range(facts.get_virtual_count())}
            references.extend(
                (name, "a virtual data set", target) for target in sorted(own - {"."})
            )

    file.id.links.visit(see_link, info=True)
    file.visititems(see_object)
    return references


def _targets(path: Path, place: str, link: str, name: str, home: Path) -> list[Path]:
    """The files that a name stands for; ``%b`` in that of a virtual data set counts."""
    linked = path.parent / name
    files = [linked]
    if link == "a virtual data set" and re.search(r"%\d*b", name):
        pattern = re.compile(r"\d+".join(map(re.escape, re.split(r"%\d*b", linked.name))))
        inside = linked.parent.is_dir() and _is_below(linked.parent, home)
        files = (
            [file for file in linked.parent.iterdir() if pattern.fullmatch(file.name)]
            if inside
            else []
        )
        files = files or [linked]
    for file in files:
        if not _is_below(file, home):
            raise DataError(
                f"{path}:{place}: is {link} to {name}, outside of the folder {home}; copy what it "
                "needs into that folder, or ask for a file that holds its data (h5repack)"
            )
        if link == _LINK and not file.exists() and not Path(name).exists():
            return []  # it leads nowhere, and the library tells so where it is followed
        if not file.is_file():
            what = "no ordinary file" if file.exists() else "not there"
            raise DataError(
                f"{path}:{place}: is {link} to {name}, which is {what}; copy that file into the "
                "folder"
            )
    return [file.resolve() for file in files]


def _is_below(path: Path, home: Path) -> bool:
    return home in (path.resolve(), *path.resolve().parents)


def _text(name: object) -> str:
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else str(name)
