"""Type checkers accept every script of the documentation, and refuse what does not exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="needs mypy: pip install 'pyspec-fit[dev]'")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "quickstart.md", *sorted((DOCS / "howto").rglob("*.md"))]
SCRIPTS = [*sorted((DOCS / "gallery").glob("*.py")), *sorted((DOCS / "tutorials").glob("*.py"))]

#: What type checkers must refuse; each line on its own.
WRONG = """\
File(data=data, energies=energy)
File(data=data, energy=energy).set_fit_limits(82, 90)
File(data=data, energy=energy).fit_2d("peak", n_start=10)
File(data=data, energy=energy).fit_spectrum("peak", energies=energy)
File(data=data, energy=energy).fit("peak")
File(data=data, energy=energy).plot_data(colour="red")
File(data=data, energy=energy).plot_fit(full_rnage=True)
fit_model(Measurement(data), model)
fit_model(model, Measurement(data), max_evaluations=10)
Measurement(data, sigma=0.3)
model.set("GLP_01_x0", minimum=80)
model.fit(data)
result["GLP_01_x0"]
plot_fit(result, path="fit.png")
report(result, "report.html", colour="red")
components.Gaus(A=1, x0=2, SD=3)
components.GLP(A=1, x0=2, F=3, m=0, f=4)
"""


def check(folder: Path) -> str:
    """What mypy says of all scripts of a folder."""
    settings = folder / "mypy.ini"
    settings.write_text(
        "[mypy]\nstrict = True\ndisable_error_code = no-untyped-call, import-untyped\n"
        f"mypy_path = {ROOT}\ncache_dir = {folder / 'cache'}\n"
        "[mypy-pyspec.*]\nfollow_imports = silent\n"
    )
    files = sorted(str(path) for path in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_every_script_of_the_documentation_is_accepted(tmp_path: Path) -> None:
    for page in PAGES:
        codes = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
        if codes:
            (tmp_path / f"page_{page.stem.lower()}.py").write_text("\n".join(codes))
    for script in SCRIPTS:
        (tmp_path / f"script_{script.stem}.py").write_text(script.read_text(encoding="utf-8"))
    assert len(list(tmp_path.glob("*.py"))) > 25
    assert check(tmp_path).startswith("Success")


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    head = (
        "import numpy as np\n"
        "from pyspec import File, FitResult, Measurement, Model, components, fit_model, "
        "plot_fit, report\n"
        "def use(model: Model, result: FitResult) -> None:\n"
        "    data, energy = np.zeros(3), np.arange(3.0)\n"
    )
    lines = WRONG.splitlines()
    script = tmp_path / "wrong.py"
    script.write_text(head + "".join(f"    {line}\n" for line in lines))
    said = check(tmp_path)
    refused = {int(number) - 5 for number in re.findall(r"wrong\.py:(\d+): error", said)}
    assert [line for k, line in enumerate(lines) if k not in refused] == [], said


def test_nodes_of_two_axes_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "axes.py").write_text(
        "from pyspec.formula import graph\n"
        "x = graph.placeholder[graph.Energy]('x')\n"
        "t = graph.placeholder[graph.Time]('t')\n"
        "w = graph.placeholder('w')\n"
        "fine = 2 * graph.exp(-x / w) + graph.where(x > w, x, 0) + graph.total(t * w)\n"
        "graph.exp(x) + t\n"
        "graph.where(x > w, t, 0)\n"
        "t * graph.sin(x * w)\n"
        "graph.minimum(x, t)\n"
    )
    refused = set(re.findall(r"axes\.py:(\d+): error", check(tmp_path)))
    assert refused == {"6", "7", "8", "9"}
