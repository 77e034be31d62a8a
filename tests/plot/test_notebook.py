"""In a notebook: every picture is shown, each once, without pyplot; tables are HTML."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import pytest
from support.later import later

pytest.importorskip("matplotlib")
later("ipykernel")

PREPARE = """
import sys
import numpy as np
from pyspec import File, fit_model, load_model, Measurement
from pyspec.fit import fit_slices
from pyspec.plot import *
text = "m:\\n  Offset: {y0: [5, True]}\\n  Gauss: {A: [8, True], x0: [9, True], SD: [1, True]}\\n"
E, T = np.linspace(0, 20, 41), np.arange(5.0)
model = load_model(text, "m")
model.set_axes(energy=E)
data = model.evaluate() + np.random.default_rng(0).normal(0, .2, 41)
one = fit_model(model, Measurement(data))
series = np.tile(data, (5, 1))
slices = fit_slices(model, Measurement(series), times=T)
file = File(data=series, energy=E, time=T, units={"energy": "eV"})
"""
#: A picture as the last line, one that is kept and named again, one that is shown by hand.
PICTURES = (
    "plot_fit(one)",
    "figure = plot_data(series, E, T)\nfigure",
    "plot_fit(one, show=True)",
    "plot_fit(one, show=True)\n1 + 1",
    "file.plot_data()",
    # From here on pyplot is there, with its own way of showing figures.
    "import matplotlib.pyplot as plt\nplot_components(one)",
    "plot_components(one, show=True)",
    "ax = plt.subplots()[1]\nplot_components(one, ax=ax)\nNone",
)
#: A builder that shows itself, and one that is shown as the last line of another cell.
BUILDERS = ("file.build('m')", "hidden = file.build('m')", "hidden")
#: What prints and returns a text.
TEXTS = ("file.describe()", "file.describe_model()", "file.project.describe()")
TABLES = ("model", "file", "one", "slices", "one.table", "one.correlations")


@pytest.fixture(scope="module")
def notebook() -> Any:
    """What a kernel answers to each cell."""
    from jupyter_client.manager import start_new_kernel

    asked = ("'matplotlib.pyplot' in sys.modules", "plt.get_fignums()")
    texts = [*TEXTS, "kept = file.describe()", "kept"]
    codes = [
        PREPARE,
        "file.add_model(model)",
        *texts,
        *PICTURES[:5],
        *(BUILDERS if find_spec("anywidget") else ()),
        asked[0],
        *PICTURES[5:],
        asked[1],
        *TABLES,
    ]
    found: dict[str, list[Any]] = {code: [] for code in codes}
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # of the kernel's own transport
        patch.delenv("MPLBACKEND", raising=False)  # a notebook chooses its own
        kernel, client = start_new_kernel(kernel_name="python3")
        try:
            for code in codes:

                def keep(message: Any, code: str = code) -> None:
                    if message["msg_type"] in ("stream", "display_data", "execute_result"):
                        one = {"output_type": message["msg_type"], **message["content"]}
                        found[code].append(one)

                reply = client.execute_interactive(code, timeout=300, output_hook=keep)
                assert reply["content"]["status"] == "ok", reply
        finally:
            client.stop_channels()
            kernel.shutdown_kernel()
    return found


def kinds(outputs: Any, kind: str) -> int:
    return sum(kind in output.get("data", {}) for output in outputs)


def test_every_picture_is_there_exactly_once(notebook: Any) -> None:
    # Figures that pyplot does not know used to show as <Figure size …>, and twice when shown.
    assert {code: kinds(notebook[code], "image/png") for code in PICTURES} == dict.fromkeys(
        PICTURES, 1
    )


def test_pyplot_is_neither_needed_nor_filled(notebook: Any) -> None:
    assert notebook["'matplotlib.pyplot' in sys.modules"][0]["data"]["text/plain"] == "False"
    assert notebook["plt.get_fignums()"][0]["data"]["text/plain"] == "[]"


def test_a_builder_is_shown_once(notebook: Any) -> None:
    pytest.importorskip("anywidget", reason="needs anywidget: pip install 'pyspec-fit[ui]'")
    view = "application/vnd.jupyter.widget-view+json"
    assert [kinds(notebook[code], view) for code in BUILDERS] == [1, 0, 1]


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_html(notebook: Any, name: str) -> None:
    html = notebook[name][0]["data"]["text/html"]
    assert html.count("<table>") == html.count("</table>") == 1
    assert {"model": "Gauss_01_A", "file": "eV"}.get(name, "Gauss_01") in html


@pytest.mark.parametrize("code", [*TEXTS, "kept = file.describe()", "kept"])
def test_a_text_that_is_printed_is_shown_once(notebook: Any, code: str) -> None:
    """It came a second time, as one line with \\n in it; in a later cell it is to be seen."""
    (output,) = notebook[code]
    assert output["output_type"] == "stream"
    assert len(output["text"].splitlines()) > (0 if code.startswith("file.project") else 3)
