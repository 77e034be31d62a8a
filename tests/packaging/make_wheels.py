"""`make wheels`: builds the wheels of wheels.txt into dist/ and prints what the checkers of each
system say of them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
TAGS = [line.split()[0] for line in (ROOT / "wheels.txt").read_text().splitlines()]
BUILD = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"


def build(tag: str) -> Path:
    """The wheel for one platform. What the compiler says is shown where it fails."""
    begin = time.monotonic()
    for stale in (ROOT / "build" / tag).glob("lib*"):  # its modules may be gone from the source
        shutil.rmtree(stale)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, str(DIST)],
        cwd=ROOT,
        env={**os.environ, "PYSPEC_TARGET": tag},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{tag}: the build failed\n{done.stderr}")
    wheel = DIST / done.stdout.split()[-1]
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.1f} MB, {time.monotonic() - begin:.0f} s", flush=True)
    return wheel


def check(wheel: Path) -> bool:
    """Prints what the checkers say; whether none of them objects."""
    good = said(wheel, "twine", "check", "--strict")
    # Without --ldpaths= auditwheel looks into libraries of this machine. musl takes any name that
    # begins with "libc." for itself; auditwheel knows only that of Alpine.
    if "musllinux" in wheel.name:
        good &= said(wheel, "auditwheel", "show", "--ldpaths=", want='{\n    "libc.so": null\n}')
    elif "linux" in wheel.name:
        good &= said(wheel, "auditwheel", "show", "--ldpaths=", want=f'"{platform_of(wheel)}"')
    elif platform_of(wheel).startswith("win"):
        good &= said(wheel, "delvewheel", "show", want="copied into the wheel.\n    None\n")
    else:
        print("  no checker of macOS's libraries runs on another system")
    return good


def platform_of(wheel: Path) -> str:
    """The last part of its tag."""
    return wheel.stem.rsplit("-", 1)[-1]


def said(wheel: Path, tool: str, *words: str, want: str = "") -> bool:
    """Runs a checker, which must say `want`."""
    if importlib.util.find_spec(tool) is None:
        print(f"  {tool} skipped: it is not installed")
        return True
    command = [sys.executable, "-m", tool, *words, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    good = done.returncode == 0 and want in done.stdout
    print(f"  {tool} {words[0]}: {'passed' if good else done.stdout + done.stderr}", flush=True)
    return good


def main() -> None:
    """Builds and checks; the exit code is 1 where a checker objects."""
    tags = sys.argv[1:] or TAGS
    if unknown := sorted(set(tags) - set(TAGS)):
        sys.exit(f"{', '.join(unknown)}: not in wheels.txt, which has {', '.join(TAGS)}")
    DIST.mkdir(exist_ok=True)
    good = [check(build(tag)) for tag in tags]
    print(f"{len(good)} wheels, {sum(good)} without objections")
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
