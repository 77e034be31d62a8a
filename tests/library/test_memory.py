"""Addresses of arrays, and structures of the library filled at once."""

import numpy as np
import pytest

from pyspec._library import DTYPES
from pyspec._library.memory import WORDS, address, fill, record, view


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5.0),
        np.arange(12.0).reshape(3, 4)[1:, ::2],
        np.zeros((0, 3)),
        np.zeros(3, np.uint16),
        np.zeros(2, DTYPES["pyspec_part"]),
        np.broadcast_to(np.ones(3), (2, 3)),
    ],
)
def test_an_address_is_that_of_numpy(array: np.ndarray) -> None:
    frozen = array.copy()
    frozen.setflags(write=False)
    for one in (array, frozen):
        assert address(one) == one.ctypes.data


@pytest.mark.parametrize("name", ["pyspec_problem", "pyspec_call", "pyspec_solver", "pyspec_part"])
def test_a_record_has_its_fields_and_zeros(name: str) -> None:
    dtype = DTYPES[name]
    fields = {
        field: k + 1.5 if dtype[field].kind == "f" else k + 1
        for k, field in enumerate(dtype.names[::2])
    }
    made = record(name, fields)
    expected = np.zeros(1, dtype)
    for field, value in fields.items():
        expected[field] = value
    assert made.shape == (1,)
    assert made.tobytes() == expected.tobytes()
    made[dtype.names[1]] = 7  # it may be written to
    assert made[0][dtype.names[1]] == 7


def test_records_lie_beside_each_other_in_one_memory() -> None:
    memory = np.full(WORDS["pyspec_call"] + WORDS["pyspec_part"] + 2, -1, np.int64)
    behind = 1 + WORDS["pyspec_call"]
    fill("pyspec_call", {"theta": 5}, memory, 1)
    fill("pyspec_part", {"n_theta": 7}, memory, behind)
    call, part = view("pyspec_call", memory, 1), view("pyspec_part", memory, behind)
    assert memory[0] == memory[-1] == -1
    assert call.tobytes() + part.tobytes() == memory[1:-1].tobytes()
    call["theta"], part["n_theta"] = 6, 8
    assert (memory == 6).sum() == (memory == 8).sum() == 1
    assert call.ctypes.data == memory.ctypes.data + 8
