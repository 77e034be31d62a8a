"""What made a fit: the model's texts and the versions of the libraries."""

from __future__ import annotations

import platform
from html import escape
from typing import Any

from pyspec.io import contents


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
    found = contents.versions()
    return [
        ("pyspec", found["pyspec"]),
        ("Python", found["python"]),
        ("NumPy, SciPy, lmfit", ", ".join(found[name] for name in ("numpy", "scipy", "lmfit"))),
        ("machine", f"{platform.system()} {platform.machine()}"),
    ]
