"""What made a fit: the model's texts and the versions of the libraries."""

from __future__ import annotations

import platform
import sys
from html import escape
from typing import Any

import numpy as np

from pyspec._version import VERSION


def model_texts(model: Any) -> str:
    """The YAML text of the model and of everything added to its parameters."""
    blocks = [("", model.text)]
    for name, par in model.parameters.items():
        for kind, law in (("over time", par.dynamics), ("along the auxiliary axis", par.profile)):
            if law is not None:
                often = getattr(law, "frequency", -1.0)
                pace = f", frequency {often:g}" if often > 0 else ""
                blocks.append((f"{name} {kind}: {law.name}{pace}", law.text))
    return "".join(
        (f"<h3>{escape(head)}</h3>" if head else "") + f"<pre>{escape(text.rstrip())}</pre>"
        for head, text in blocks
        if text
    )


def versions() -> list[tuple[str, str]]:
    import lmfit
    import scipy

    return [
        ("pyspec", VERSION),
        ("Python", sys.version.split()[0]),
        ("NumPy, SciPy, lmfit", f"{np.__version__}, {scipy.__version__}, {lmfit.__version__}"),
        ("machine", f"{platform.system()} {platform.machine()}"),
    ]
