"""Builds csrc/ into one plain shared library, loaded with ctypes.

The library does not use Python's C API, so one wheel serves every Python 3: its tag is
``py3-none-<platform>``. CMakeLists.txt builds the same files, csrc/sources.txt, with the same
flags, csrc/flags.txt.

The compiler is the one of the system. PYSPEC_TARGET names a row of wheels.txt, for which the clang
of the package ziglang compiles instead, on any machine: ``make wheels`` does so for each row.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

HERE = Path(__file__).parent
SOURCES = (HERE / "csrc" / "sources.txt").read_text().split()
LIBRARY = HERE / "pyspec" / "_library" / "libpyspec.so"

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


#: For each wheel, by the platform of its tag, what zig calls the system it is for.
TARGETS = dict(line.split() for line in (HERE / "wheels.txt").read_text().splitlines())
TARGET = os.environ.get("PYSPEC_TARGET", "")
if TARGET and TARGET not in TARGETS:
    raise PlatformError(f"PYSPEC_TARGET is {TARGET!r}; it must be one of {', '.join(TARGETS)}")
FOR_WINDOWS = TARGET.startswith("win") if TARGET else os.name == "nt"


def archs_of(command: list[str]) -> set[str]:
    """The processors that -arch names. A universal2 Python on macOS names two."""
    return {arch for word, arch in pairwise(command) if word == "-arch"}


def isa_flags(name: str, command: list[str], macros: set[str]) -> list[str]:
    """The flags of a file for one instruction set, where the compiler `command`, which defines
    `macros`, compiles for x86-64; elsewhere the file is empty and has none."""
    # GCC contracts a * b + c within an expression if it is told "fast". "fast" of clang also joins
    # statements, so that a value has other bits where other code is around it.
    clang = "__clang__" in macros
    flags = [f.replace("=fast", "=on") if clang else f for f in ISA_FLAGS[name]]
    archs = archs_of(command)
    if archs:
        return [word for f in flags for word in ("-Xarch_x86_64", f) if "x86_64" in archs]
    return flags if "__x86_64__" in macros else []


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
        return os.path.join(*fullname.split(".")) + (".dll" if FOR_WINDOWS else ".so")

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return list(ext.export_symbols)

    def get_libraries(self, ext: Extension) -> list[str]:
        return []  # none of Python's

    def build_extension(self, ext: Extension) -> None:
        if self.editable_mode and self.is_there():
            built = Path(self.get_ext_fullpath(ext.name))
            built.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(LIBRARY, built)
            return
        if TARGET:
            self.take_zig(TARGETS[TARGET])
        self.need_compiler()
        # Behind the user's CFLAGS, so that these hold.
        ext.extra_compile_args = [*UNIX_FLAGS, f'-DPYSPEC_FINGERPRINT="{fingerprint()}"']
        ext.extra_link_args = [] if FOR_WINDOWS else ["-lm", "-pthread"]
        ext.extra_objects = self.build_objects()
        super().build_extension(ext)
        if FOR_WINDOWS:  # the linker leaves an import library beside the library
            for path in Path(self.get_ext_fullpath(ext.name)).parent.glob("*.lib"):
                path.unlink()

    def is_there(self) -> bool:
        """Whether the library of these sources stands in the tree, so that a second editable
        install, with another extra, compiles nothing. Who names a compiler or flags of their own
        gets a new library."""
        if {"CC", "CFLAGS"} & os.environ.keys() or not LIBRARY.is_file():
            return False
        return fingerprint().encode() in LIBRARY.read_bytes()

    def take_zig(self, target: str) -> None:
        """Compiles with the clang of the package ziglang for the system `target`."""
        zig = [sys.executable, "-m", "ziglang", "cc", "-target", target]
        strip = ["-Wl,-x"] if "macos" in target else ["-s"]
        self.compiler.set_executables(
            compiler=zig, compiler_so=[*zig, "-fPIC"], linker_so=[*zig, "-shared", *strip]
        )
        self.compiler.library_dirs, self.compiler.runtime_library_dirs = [], []

    def need_compiler(self) -> None:
        """Raises where the C compiler is not there, with how to get one."""
        if self.compiler.compiler_type == "msvc":
            raise PlatformError(
                "pyspec's C library needs GCC or clang, not Visual C++; install the wheel for "
                "Windows, which needs no compiler"
            )
        name = self.compiler.compiler_so[0]
        if shutil.which(name) is None:
            raise PlatformError(
                f"pyspec compiles a small C library, and the C compiler {name!r} is not there. "
                "Install one (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; conda: "
                "conda install c-compiler; macOS: xcode-select --install), or name yours: "
                "CC=clang pip install ..."
            )

    def predefined(self) -> set[str]:
        """The macros that the compiler defines by itself. They say which compiler it is and what
        it compiles for, which need not be this machine."""
        command = list(self.compiler.compiler_so)
        while "-arch" in command:  # macros of several are refused
            at = command.index("-arch")
            del command[at : at + 2]
        done = subprocess.run(
            [*command, "-dM", "-E", "-x", "c", "-"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PlatformError(f"the C compiler {' '.join(command)} fails: {done.stderr}")
        return {line.split()[1] for line in done.stdout.splitlines() if line.startswith("#define")}

    def build_objects(self) -> list[str]:
        """Compiles all files but describe.c, each core one; those of the instruction sets, which
        take longest and have flags of their own, first."""
        command, macros = self.compiler.compiler_so, self.predefined()
        own = {name: isa_flags(name, command, macros) for name in ISA_FLAGS}
        own |= {name: [] for name in SOURCES if name.endswith(".c") and name not in own}
        del own["tables/describe.c"]

        def build(name: str) -> list[str]:
            objects: list[str] = self.compiler.compile(
                [f"csrc/{name}"],
                output_dir=self.build_temp,
                include_dirs=["csrc"],
                extra_postargs=[*UNIX_FLAGS, *own[name]],
                depends=[f"csrc/{name}" for name in SOURCES],
            )
            return objects

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return [made for objects in pool.map(build, own) for made in objects]


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python 3."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", TARGET or super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            "pyspec._library.libpyspec",
            include_dirs=["csrc"],
            sources=["csrc/tables/describe.c"],  # the others come as objects
            depends=[f"csrc/{name}" for name in SOURCES],
        )
    ],
    options={"build": {"build_base": f"build/{TARGET}"}} if TARGET else {},
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
