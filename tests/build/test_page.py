"""The page of the builder as one module: what is in it, and what is not."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pyspec.build import page

ROOT = Path(__file__).parents[2]
HERE = ROOT / "pyspec" / "build" / "page"
MODULES = sorted(HERE.glob("*.js"))
VENDOR = HERE / "vendor"


def rows() -> list[list[str]]:
    lines = (VENDOR / "VENDOR.txt").read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines[2:]]


def test_files_of_others_are_those_that_are_listed() -> None:
    for _, _, name, _, digest in rows():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
    listed = {row[2] for row in rows()} | {"VENDOR.txt"}
    assert {path.name for path in VENDOR.iterdir()} == listed


def test_the_page_is_at_most_a_megabyte() -> None:
    assert sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file()) <= 1_000_000


def test_what_a_module_imports_is_exported() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for names, module in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', text, re.M):
            if module == "vendor":
                continue
            exported = (HERE / f"{module}.js").read_text(encoding="utf-8")
            for name in filter(None, (one.strip() for one in names.split(","))):
                assert re.search(rf"^export (async )?\w+ {name}\b", exported, re.M), (module, name)
                assert re.search(rf"\b{name}\b", text.replace(names, "", 1)), f"{name} is not used"
        assert len(re.findall(r"^import ", text, re.M)) == len(
            re.findall(r'^import \{[^}]*\} from "\./\w+\.js";$', text, re.M)
        )


def test_text_never_becomes_html_and_nothing_is_asked_of_other_hosts() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "http://",
        ):
            assert word not in text, word
        assert "https://" not in text


def test_all_modules_are_in_the_page_once_and_in_order() -> None:
    text = page.module()
    places = [text.index(f"const ${path.stem} = (") for path in MODULES]
    assert len(set(places)) == len(MODULES)
    for path in MODULES:
        assert text.count(f"const ${path.stem} = (") == 1
        for name in re.findall(r"from \"\./(\w+)\.js\"", path.read_text(encoding="utf-8")):
            assert text.index(f"const ${name} = (") < text.index(f"const ${path.stem} = (")
    assert not re.search(r"^import |^export (?!default)", text.split("const $dom", 1)[1], re.M)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_the_module_is_javascript(tmp_path: Path) -> None:
    path = tmp_path / "builder.mjs"
    path.write_text(page.module(), encoding="utf-8")
    done = subprocess.run(["node", "--check", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_document_has_no_script_and_no_style_of_its_own() -> None:
    found: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, dict(attrs)))

    Reader().feed(page.html())
    scripts = [attributes for tag, attributes in found if tag == "script"]
    assert scripts == [{"type": "module", "src": "./builder.js"}]
    assert all(tag != "style" for tag, _ in found)
    assert not any(name.startswith("on") for _, attributes in found for name in attributes)


def test_every_file_of_the_page_is_shipped() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    patterns = re.findall(r'"([^"]+)"', text.split('"pyspec.build.page" = ', 1)[1].splitlines()[0])
    for path in HERE.rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            name = path.relative_to(HERE).as_posix()
            assert any(fnmatch(name, pattern) for pattern in patterns), name
