"""Writes the generated pages and the stub of pyspec.components.

Generated are functions, expressions, mistakes, gallery, passes, one model, findings, formats and
API. So are names of trspecfit, costs on paper and tutorials.

``python -m docs.build`` writes them, ``--check`` says which differ, ``--pictures`` runs the
gallery first. Sources of functions and expressions are csrc/tables/ops.def, csrc/tables/rpn.def
and the docstrings of the NumPy references. The other pages come from tests/mistakes/mistakes.yaml,
docs/gallery/, pyspec/passes/, the readers of pyspec.io and pyspec.__all__. Tutorials, names of
trspecfit and costs come from docs/tutorials/, docs/pages/trspecfit_* and docs/pages/on_paper.json.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
IMAGES = DOCS / "images"

NOTE = "<!-- Made by `python -m docs.build`; change its sources instead. -->\n"


def pages() -> dict[str, str]:
    """The text of every generated page, by its path in docs/."""
    from docs.pages import (
        api_page,
        compiler_page,
        findings_page,
        formats_page,
        function_pages,
        gallery_page,
        mistakes_page,
        ops_page,
        paper_page,
        peer_page,
        tutorial_pages,
        walk_page,
    )

    found: dict[str, str] = {}
    makers: tuple[Callable[[], dict[str, str]], ...] = (
        function_pages.pages,
        ops_page.pages,
        mistakes_page.pages,
        gallery_page.pages,
        compiler_page.pages,
        walk_page.pages,
        findings_page.pages,
        formats_page.pages,
        api_page.pages,
        peer_page.pages,
        paper_page.pages,
    )
    for make in makers:
        found.update(make())
    texts = {name: NOTE + "\n" + text.strip() + "\n" for name, text in found.items()}
    return texts | tutorial_pages.pages()


def files() -> dict[Path, str]:
    """The text of every generated file, by its path."""
    from docs.pages.components_stub import stub

    found = {DOCS / name: text for name, text in pages().items()}
    return {**found, ROOT / "pyspec" / "components.pyi": stub()}


def draw_pictures(only: str | None = None) -> None:
    """Runs the gallery; each script leaves one picture of its name in docs/images."""
    from docs.pages.gallery_page import SCRIPTS

    if only in (None, "one_model"):
        from docs.pages.walk_page import draw

        draw(IMAGES)
    for script in SCRIPTS:
        if only in (None, script.stem):
            subprocess.run(
                [sys.executable, "-W", "error", str(script), str(IMAGES)], check=True, cwd=ROOT
            )


def main() -> int:
    """Writes or checks the pages; 1 if any differs from what it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--pictures", nargs="?", const="", metavar="NAME")
    given = parser.parse_args()
    if given.pictures is not None:
        draw_pictures(given.pictures or None)
    stale = []
    for path, text in files().items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if not given.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    print("\n".join(stale) or "all pages are up to date")
    return int(given.check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
