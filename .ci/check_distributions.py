"""Checks what lies in built distributions: python .ci/check_distributions.py FOLDER

A source distribution holds all that a build needs and nothing else; a wheel what runs, and at most
15 MB of it.
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 15_000_000
OF_WHEELS = re.compile(
    r"fctree/([\w/]+\.pyi?|py\.typed|_native/\w+\.[\w.-]+\.(so|pyd))"
    r"|fctree-[\w.]+\.dist-info/.+"
    r"|fctree\.libs/.+|fctree/\.dylibs/.+"  # OpenMP, from the repair of wheels
)
SOURCES = {
    "native": {".cpp", ".hpp", ".h", ".cu", ".cuh"},
    "fctree": {".py", ".pyi", ".pyx", ".pxd", ".hpp", ".typed"},
}
BESIDE = {"CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py",
          "fctree/_native/matrix.cpp"}
MADE_BY_SETUPTOOLS = re.compile(r"PKG-INFO|setup\.cfg|fctree\.egg-info/.+")


def needed_by_a_build():
    """Paths of the files of this source tree that a build reads."""
    found = {path.relative_to(ROOT).as_posix()
             for folder, suffixes in SOURCES.items()
             for path in (ROOT / folder).rglob("*") if path.suffix in suffixes}
    return found | BESIDE


def faults_of_source(path):
    with tarfile.open(path) as archive:
        held = {member.name.split("/", 1)[1] for member in archive if member.isfile()}
    needed = needed_by_a_build()
    surplus = {name for name in held - needed if not MADE_BY_SETUPTOOLS.fullmatch(name)}
    return [f"{name} is missing" for name in needed - held] + [f"{name} is not needed" for name in surplus]


def faults_of_wheel(path):
    with zipfile.ZipFile(path) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    faults = [f"{name} is not needed" for name in held if not OF_WHEELS.fullmatch(name)]
    python = {name for name in needed_by_a_build() if re.fullmatch(r"fctree/.*\.(pyi?|typed)", name)}
    modules = {Path(name).stem for name in needed_by_a_build() if name.endswith(".pyx")} | {"matrix", "memoryviews"}
    compiled = {Path(name).name.split(".")[0] for name in held if name.endswith((".so", ".pyd"))}
    faults += [f"{name} is missing" for name in (python - held) | (modules - compiled)]
    if path.stat().st_size > MOST_BYTES:
        faults.append(f"{path.stat().st_size} bytes are more than {MOST_BYTES}")
    return faults


def main(folder):
    found = sorted(Path(folder).iterdir())
    if not found:
        sys.exit(f"{folder} is empty")
    faults = [f"{path.name}: {fault}" for path in found
              for fault in sorted((faults_of_wheel if path.suffix == ".whl" else faults_of_source)(path))]
    print("\n".join(faults or [f"{path.name}: {path.stat().st_size:,} bytes" for path in found]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
