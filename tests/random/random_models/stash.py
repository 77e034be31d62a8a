"""Where the tests leave what they counted for the terminal."""

from __future__ import annotations

import pytest

from random_models.slopes import Slopes
from random_models.summary import Summary

SUMMARY = pytest.StashKey[Summary]()
SLOPES = pytest.StashKey[Slopes]()
