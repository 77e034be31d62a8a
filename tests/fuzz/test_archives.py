"""A fixed share of what tests/fuzz/archives.py does."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from fuzz.archives import attack


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="hangs are ended by SIGALRM")
@pytest.mark.filterwarnings("ignore::pyspec.ArchiveWarning")
def test_damaged_archives_never_change_a_number_hang_or_crash(tmp_path: Path) -> None:
    found = attack(tmp_path, n_flips=600, n_cuts=60, n_blocks=60, n_skips=27)
    assert sum(counts.kinds["DataError"] for counts in found.values()) >= 700
    assert sum(counts.kinds["items read"] for counts in found.values()) >= 100
    for case, counts in found.items():
        assert counts.bad == 0, (case, counts.examples)
