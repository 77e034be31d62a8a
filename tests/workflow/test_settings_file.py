"""project.yaml is read by the rules of model files; those of older YAML gave other numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyspec import DataError, Project, PyspecError
from pyspec.errors import MAX_MESSAGE


def project_of(folder: Path, text: str) -> Project:
    (folder / "project.yaml").write_text(text, encoding="utf-8")
    return Project(folder)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("noise_type: gaussian\nsigma_data: 1e-3\n", "sigma_data", 1e-3),  # was refused as text
        ("noise_type: poisson\nnoise_scale: 010\n", "noise_scale", 10),  # was eight
        ("show_output: off\n", "show_output", False),
        ("show_output: 0\n", "show_output", False),
        ("num_fmt: '%.3f'\n", "num_fmt", "%.3f"),
        ("\ufeffdelim: ';'\n", "delim", ";"),
    ],
)
def test_values_are_what_a_model_file_would_mean(
    tmp_path: Path, text: str, name: str, value: Any
) -> None:
    found = getattr(project_of(tmp_path, text), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("delim: ','\nshow_output: False\u00a0\n", r"2: show_output is 'False\\xa0'"),
        ("show_output:\n", "1: show_output is empty; write true or false"),
        ("x_lim: [1, 2]\nx-lim: [3, 4]\n", "2: x-lim is given twice; remove one"),
        ("noise_scale: 1_000\n", "1: noise_scale is '1_000'; give a number such as 1.5e3"),
        ("sigma_data: 1:30\n", "1: sigma_data is '1:30'; give a number"),  # was 90
        ("delim: ','\n\tnum_fmt: 1\n", "2: not valid YAML: .*; indent with spaces, not with tabs"),
        ("backend: " + "[" * 100_000, ".*nested too deeply"),
        ("delim: ','\nbakend: tree\n", "2: unknown setting 'bakend'; did you mean 'backend'"),
    ],
)
def test_what_means_nothing_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=f"project.yaml:{said}") as caught:
        project_of(tmp_path, text)
    assert len(str(caught.value)) <= MAX_MESSAGE


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    for raw, said in ((b"\xff\xfe\x00", "byte 0 is not UTF-8"), (b"\x00", "a NUL byte")):
        (tmp_path / "project.yaml").write_bytes(raw)
        with pytest.raises(DataError, match=rf"project\.yaml.*{said}"):
            Project(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("delim: ','\nbackend: fast\n", "2: unknown backend 'fast'"),
        ("delim: ','\nx_dir: down\n", "2: PlotConfig: x_dir must be one of"),
        ("noise_type: Gaussian\n", " noise_type='gaussian' needs sigma="),
        ("noise_type: poisson\nsigma_data: 3\n", " counts have no sigma of their own"),
    ],
)
def test_what_other_parts_refuse_has_its_line_too(tmp_path: Path, text: str, said: str) -> None:
    """The messages were those of arguments, and named no file."""
    with pytest.raises(PyspecError, match=f"project.yaml:{said}"):
        project_of(tmp_path, text)
