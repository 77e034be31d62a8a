"""The page of the builder: modules of JavaScript beside this file, joined when they are asked for.

Each module becomes a function that returns its exports. So the page is one ES module that a server
can serve and anywidget can load. Nothing has to be built before.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = ["html", "module", "style"]

HERE = Path(__file__).parent

#: Scripts of others, in the order in which they need one another, and what they define.
SCRIPTS = ("codemirror.js", "yaml.js", "show-hint.js", "uPlot.iife.min.js")
STYLES = ("codemirror.css", "show-hint.css", "uPlot.min.css")

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (\w+))", re.MULTILINE)


def html() -> str:
    """The page, which asks for `builder.js` and `builder.css` beside it."""
    return _read("index.html")


@cache
def module() -> str:
    """The page as one ES module; `export default { render }` draws it into an element."""
    parts = [_vendor()]
    for name in _order("builder", []):
        text = _IMPORT.sub(r"const \1 = $\2;", _read(f"{name}.js"))
        names = _EXPORT.findall(text)
        body = _EXPORT.sub("", text)
        parts.append(f"const ${name} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();")
    return "\n".join([*parts, "export default { render: $builder.render };", ""])


@cache
def style() -> str:
    """The style sheet of the page and of the scripts of others."""
    return "\n".join([*(_read(f"vendor/{name}") for name in STYLES), _read("builder.css")])


def _order(name: str, order: list[str]) -> list[str]:
    """The modules that `name` imports, each behind those that it needs, and `name`."""
    for _, needed in _IMPORT.findall(_read(f"{name}.js")):
        if needed != "vendor" and needed not in order:
            _order(needed, order)
    order.append(name)
    return order


def _vendor() -> str:
    """The scripts of others in a function. They see neither a module loader, to which they would
    give themselves, nor the window: two versions on one page of a notebook are no trouble."""
    library, *rest = (_read(f"vendor/{name}") for name in SCRIPTS)
    body = "\n".join([library, "var CodeMirror = this.CodeMirror;", *rest])
    head = "const $vendor = (function (exports, module, define) {"
    return f"{head}\n{body}\nreturn {{ CodeMirror, uPlot }};\n}}).call({{}});"


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
