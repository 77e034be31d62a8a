"""``python -m pyspec``: the command line, where the script ``pyspec`` is not on the path."""

from pyspec.cli import main

raise SystemExit(main())
