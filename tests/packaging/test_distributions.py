"""The wheel and the sdist, built once, offline, from a copy of the source tree. Building the wheel
compiles the library, so its tests are slow."""

from __future__ import annotations

import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from pyspec._library import supported_isas
from pyspec._version import VERSION

ROOT = Path(__file__).parents[2]
NOT_SOURCE = (".git", ".venv", "build", "dist", "demo", "*.egg-info", "*.so", "__pycache__")
OLDEST_SETUPTOOLS = (77, 0)


def ended(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """How a command ended, with its output."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Runs a command that must succeed; its output."""
    done = ended(*command, cwd=cwd, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session", autouse=True)
def _setuptools() -> None:
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("setuptools is not installed: pip install '.[test]'")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_SETUPTOOLS:
        pytest.skip(f"setuptools {version} is too old to build pyspec")
    if not (ROOT / "setup.py").is_file():
        pytest.skip("needs the source tree")


def build(kind: str, source: Path, into: Path) -> Path:
    """The wheel or sdist that the build backend makes of a source tree."""
    into.mkdir(parents=True)
    script = f"from setuptools import build_meta; build_meta.build_{kind}({str(into)!r})"
    run(sys.executable, "-W", "ignore", "-c", script, cwd=source)
    (made,) = into.iterdir()
    return made


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    source = folder / "source"
    at_the_top = shutil.ignore_patterns(*NOT_SOURCE, ".*_cache")  # pyspec/build is source
    below = shutil.ignore_patterns("__pycache__", "*.so", ".*_cache")
    shutil.copytree(
        ROOT, source, ignore=lambda f, names: (at_the_top if f == str(ROOT) else below)(f, names)
    )
    return build("sdist", source, folder / "dist")


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the unpacked sdist: what pip does without a wheel. PYSPEC_WHEEL names
    one that is built already."""
    if "PYSPEC_WHEEL" in os.environ:
        return Path(os.environ["PYSPEC_WHEEL"])
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-W", "ignore", "-m", "tarfile", "-e", sdist, cwd=folder)
    (source,) = folder.iterdir()
    return build("wheel", source, folder / "dist")


def names_of(sdist: Path) -> set[str]:
    """The paths in an sdist, from its own folder on."""
    with tarfile.open(sdist) as archive:
        top = sdist.name.removesuffix(".tar.gz")
        return {name.removeprefix(f"{top}/") for name in archive.getnames()}


@pytest.mark.slow
def test_the_sdist_is_the_whole_source_tree(sdist: Path) -> None:
    """It used to leave out CONTRIBUTING.md and the scripts of the documentation, without which
    links of the README led nowhere and `make test` failed."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository")
    tracked, names = set(run("git", "ls-files", cwd=ROOT).split()), names_of(sdist)
    assert tracked - names == {".gitignore"}
    assert not [name for name in names if name.endswith((".so", ".pyc", ".o"))]


def test_the_sources_are_listed() -> None:
    listed = set((ROOT / "csrc" / "sources.txt").read_text().split())
    present = {
        path.relative_to(ROOT / "csrc").as_posix()
        for path in (ROOT / "csrc").rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
    assert present - listed == {"sources.txt"}
    assert listed <= present


@pytest.mark.slow
def test_the_wheel_is_for_every_python_3_of_one_platform(wheel: Path) -> None:
    name, _version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("pyspec_fit", "py3", "none")
    assert platform != "any"
    with zipfile.ZipFile(wheel) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/WHEEL")]
        lines = archive.read(path).decode().splitlines()
    assert f"Tag: py3-none-{platform}" in lines
    assert "Root-Is-Purelib: false" in lines


def archive_bytes(wheel: Path, name: str) -> bytes:
    """One file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name)


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_library_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = [name for name in names if name.endswith((".so", ".dll", ".dylib"))]
    assert libraries in (["pyspec/_library/libpyspec.so"], ["pyspec/_library/libpyspec.dll"])
    assert {name.split("/")[0].split("-")[0] for name in names} == {"pyspec", "pyspec_fit"}
    assert not [name for name in names if name.endswith((".c", ".h", ".def", ".o"))]
    assert "pyspec/py.typed" in names
    if "CFLAGS" not in os.environ:  # it used to be 22 MB, of which 17 were for a debugger
        assert b".debug_info" not in archive_bytes(wheel, libraries[0])
    modules = {
        f"pyspec/{path.relative_to(ROOT / 'pyspec')}" for path in ROOT.glob("pyspec/**/*.py")
    }
    assert modules <= set(names)


@pytest.mark.slow
def test_the_wheel_works_away_from_the_source_tree(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    script = shutil.copy(ROOT / "tests" / "packaging" / "smoke.py", tmp_path)
    output = run(sys.executable, script, cwd=tmp_path, PYTHONPATH=str(target))
    assert str(target) in output


@pytest.mark.slow
def test_the_wheel_installs_with_pip(wheel: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("pip is not installed")
    options = ["--no-index", "--no-deps", "--target", tmp_path / "site"]
    run(*pip, "install", *options, wheel, cwd=tmp_path)
    assert (tmp_path / "site" / "pyspec" / "_library").is_dir()


@pytest.mark.skipif(os.name == "nt", reason="a Unix compiler")
def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    folders = [f"--build-{what}={tmp_path / what}" for what in ("lib", "temp")]
    build = (sys.executable, "setup.py", "-q", "build_ext", "--force", *folders)
    done = ended(*build, cwd=ROOT, CC="no-such-compiler")
    assert done.returncode != 0
    assert "the C compiler 'no-such-compiler' is not there. Install one" in done.stderr


def test_what_another_distribution_of_this_import_is_called(tmp_path: Path) -> None:
    """The distribution pyspec on PyPI has the same import. Its files and ours used to be mixed in
    silence."""
    (tmp_path / "pyspec").symlink_to(ROOT / "pyspec", target_is_directory=True)
    (tmp_path / "pyspec_fit-0.1.0.dist-info").mkdir()
    command = (sys.executable, "-W", "error", "-c", "import pyspec")
    run(*command, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    (tmp_path / "pyspec-1.2.0.dist-info").mkdir()
    done = ended(*command, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert "pyspec-1.2.0" in done.stderr
    assert "run 'pip uninstall pyspec pyspec-fit', then install pyspec-fit again" in done.stderr


def test_the_recipe_for_conda_agrees_with_the_metadata() -> None:
    recipe = (ROOT / "conda" / "meta.yaml").read_text("utf-8")
    metadata = (ROOT / "pyproject.toml").read_text("utf-8")
    version = re.search(r'version = "(.*)"', recipe)
    assert version is not None
    assert version[1] == VERSION
    needs = re.search(r"^dependencies = \[(.*)\]$", metadata, re.M)
    assert needs is not None
    run_time = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    listed = {line.strip(" -").replace(" ", "") for line in run_time.splitlines()}
    assert listed == {"python>=3.10", *re.findall(r'"(.*?)"', needs[1])}


def test_a_wheel_offers_avx2_where_the_processor_has_it() -> None:
    """Builds by zig's clang ran SSE2 in silence: its __builtin_cpu_supports is always 0."""
    if not Path("/proc/cpuinfo").is_file():
        pytest.skip("the processor is asked through /proc/cpuinfo")
    flags = set(Path("/proc/cpuinfo").read_text().split())
    assert ("AVX2" in supported_isas()) == ({"avx2", "fma"} <= flags)
    wide = {"avx512f", "avx512dq", "avx512vl", "avx512bw", "fma"}
    assert ("AVX512" in supported_isas()) == (wide <= flags)


ISA_CASES = [
    (["cc"], {"__x86_64__"}, ["-mavx2", "-mfma", "-ffp-contract=fast"]),
    (["cc"], {"__x86_64__", "__clang__"}, ["-mavx2", "-mfma", "-ffp-contract=on"]),
    (["cc"], {"__aarch64__", "__clang__"}, []),
    (["cc", "-arch", "arm64"], {"__x86_64__", "__clang__"}, []),
    (
        ["cc", "-arch", "arm64", "-arch", "x86_64"],
        {"__clang__"},
        ["-Xarch_x86_64", "-mavx2", "-Xarch_x86_64", "-mfma", "-Xarch_x86_64", "-ffp-contract=on"],
    ),
]


@pytest.mark.parametrize(("command", "macros", "flags"), ISA_CASES)
def test_flags_follow_what_the_compiler_compiles_for(
    command: list[str], macros: set[str], flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They followed the machine: a universal2 Python gave -mavx2 to the compiler for arm64."""
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    monkeypatch.setattr(sys, "argv", ["setup.py"])
    names = runpy.run_path(str(ROOT / "setup.py"))
    assert names["isa_flags"]("isa/isa_avx2.c", command, macros) == flags
