"""Builds csrc/ into one plain shared library, loaded with ctypes.

The library does not use Python's C API, so one wheel serves every Python 3: its tag is
``py3-none-<platform>``. CMakeLists.txt builds the same files, csrc/sources.txt, with the same
flags, csrc/flags.txt.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

HERE = Path(__file__).parent
SOURCES = (HERE / "csrc" / "sources.txt").read_text().split()

UNIX_FLAGS = (HERE / "csrc" / "flags.txt").read_text().split()

#: Most Pythons compile with -g, which makes the library five times as large and a third slower to
#: compile. Who sets CFLAGS, such as -g for a debugger, gets what they say.
if "CFLAGS" not in os.environ:
    UNIX_FLAGS.append("-g0")

#: Flags of the files that hold kernels for one instruction set.
ISA_FLAGS = {
    line.split()[0]: line.split()[1:]
    for line in (HERE / "csrc" / "isa_flags.txt").read_text().splitlines()
}


def fingerprint() -> str:
    """SHA-256 over the names and digests of all sources, as CMakeLists.txt computes it."""
    lines = [
        f"{name} {hashlib.sha256((HERE / 'csrc' / name).read_bytes()).hexdigest()}\n"
        for name in SOURCES
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class BuildLibrary(build_ext):
    """Builds a shared library in place of an extension module."""

    def get_ext_filename(self, fullname: str) -> str:
        return os.path.join(*fullname.split(".")) + (".dll" if os.name == "nt" else ".so")

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return list(ext.export_symbols)

    def build_extension(self, ext: Extension) -> None:
        self.need_compiler()
        if self.compiler.compiler_type == "unix":
            # Behind the user's CFLAGS, so that these hold.
            ext.extra_compile_args = UNIX_FLAGS
            ext.extra_link_args = ["-lm", "-pthread"]
            ext.extra_objects = self.build_isa_objects()
        else:
            ext.extra_compile_args = ["/O2", "/std:c11"]
        ext.define_macros = [("PYSPEC_FINGERPRINT", f'"{fingerprint()}"')]
        super().build_extension(ext)

    def need_compiler(self) -> None:
        """Raises where the C compiler is not there, with how to get one."""
        if self.compiler.compiler_type != "unix":
            return
        name = self.compiler.compiler_so[0]
        if shutil.which(name) is None:
            raise PlatformError(
                f"pyspec compiles a small C library, and the C compiler {name!r} is not there. "
                "Install one (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; conda: "
                "conda install c-compiler; macOS: xcode-select --install), or name yours: "
                "CC=clang pip install ..."
            )

    def build_isa_objects(self) -> list[str]:
        """Compiles the files that need flags of their own; off x86-64 they are empty."""
        x86 = platform.machine().lower() in ("x86_64", "amd64")

        def build(name: str) -> list[str]:
            objects: list[str] = self.compiler.compile(
                [f"csrc/{name}"],
                output_dir=self.build_temp,
                extra_postargs=[*UNIX_FLAGS, *(ISA_FLAGS[name] if x86 else [])],
                depends=[f"csrc/{name}" for name in SOURCES],
            )
            return objects

        # The two large ones take twenty seconds each: they are compiled side by side.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return [made for objects in pool.map(build, ISA_FLAGS) for made in objects]


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python 3."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            "pyspec._library.libpyspec",
            sources=[
                f"csrc/{name}" for name in SOURCES if name.endswith(".c") and name not in ISA_FLAGS
            ],
            depends=[f"csrc/{name}" for name in SOURCES],
        )
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
