"""The browser that pages of the builder are opened in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.build.browser import browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found
