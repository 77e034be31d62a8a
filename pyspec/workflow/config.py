"""show_config: which pyspec runs here, on what."""

from __future__ import annotations

import platform
import sys

from pyspec._library import ABI, LIBRARY, OPS, library_path
from pyspec._version import VERSION
from pyspec.calls import answered, say


@answered
def show_config() -> dict[str, str]:
    """Prints and returns versions, the compiled library and the machine: for bug reports."""
    import lmfit
    import numpy
    import scipy

    facts = {
        "pyspec": VERSION,
        "library": str(library_path()),
        "fingerprint": LIBRARY.pyspec_fingerprint().decode()[:16],
        "ABI": str(ABI),
        "functions": ", ".join(OPS),
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "lmfit": lmfit.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }
    width = max(map(len, facts))
    say("\n".join(f"{name:{width}}  {value}" for name, value in facts.items()))
    return facts
