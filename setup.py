"""Builds the native core as a static library and the extension modules on it.

Every ``native/**/*.isa.cpp`` is compiled once per instruction set (the core chooses at run
time); everything else once. Objects lie in ``build/objects`` and are compiled again when their
command, a file that they include or a compiler or library behind them changes.
docs/contributing.md lists the environment variables that are read.
"""

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
NATIVE = ROOT / "native"
BINDINGS = ROOT / "fctree" / "_native"
OBJECTS = ROOT / "build" / "objects"
SANITIZE = os.environ.get("FCTREE_SANITIZE", "")

# name: compiler flags
INSTRUCTION_SETS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma"],
}
# Machine code for the first devices with float64 matrix units and for the newest that this is tuned
# for, and an intermediate form that drivers compile for later ones.
CUDA_FLAGS = [
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=[sm_90,compute_90]",
    "-std=c++17", "-O3", "-DNDEBUG", "-DFCTREE_CUDA", "-DFCTREE_ISA=on_device",
    "-Xcompiler=-fPIC,-fvisibility=hidden,-Wno-unknown-pragmas",
]
CUDA_PROBE = """#include <cuda_runtime.h>
__global__ void probe() {}
int main() { int n = 0; probe<<<1, 1>>>(); return cudaGetDeviceCount(&n) == cudaSuccess && n < 0; }
"""
OPENMP_FLAGS = [
    (["-fopenmp"], ["-fopenmp"]),
    (["-Xpreprocessor", "-fopenmp"], ["-lomp"]),
]
# What most files read: parsed once, and handed to the compiler before each file.
CORE_HEADERS = ["Eigen/Core", "algorithm", "array", "cmath", "functional", "limits", "memory",
                "numeric", "optional", "stdexcept", "string", "vector"]
# The module that holds what Cython's memoryviews need, which all others would hold else.
MEMORYVIEWS = "fctree._native.memoryviews"
# Flags of the interpreter's own build that fctree sets for itself, the same for all interpreters.
REPLACED_FLAGS = re.compile(r"-g\d?|-O.|-W(all|sign-compare|no-unused-result)|-DNDEBUG|-fwrapv|-fno-strict-overflow")
NO_COMPILER = """fctree is compiled while it is installed, which needs a C++17 compiler and Python's headers.
  Debian, Ubuntu    apt install g++ python3-dev
  Fedora            dnf install gcc-c++ python3-devel
  macOS             xcode-select --install
  conda             conda install -c conda-forge cxx-compiler
  Windows           winget install LLVM.LLVM, and the Build Tools of Visual Studio (C++)
CC and CXX name other compilers. What was tried:
"""


@cache
def digest(path):
    """Of a file's bytes; None for a file that is gone."""
    path = Path(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def dependencies(listing):
    """The files that an object was compiled from, by the compiler's account."""
    if not listing.exists():
        return []
    words = listing.read_text().replace("\\\n", " ").split()
    return [ROOT / word for word in words[1:]]


def sign(target, signature):
    """Notes what a file was made of."""
    target.with_suffix(".json").write_text(json.dumps(signature))


def is_made_by(target, signature):
    """Whether a file is there and was made of this."""
    note = target.with_suffix(".json")
    return target.exists() and note.exists() and json.loads(note.read_text()) == signature


def cuda_compiler():
    """The command of CUDA's compiler as a list, or None."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which("nvcc") or shutil.which(os.path.join(home, "bin", "nvcc"))
    command = shlex.split(os.environ.get("NVCC", found or ""))
    return command or None


def cuda_link_flags(nvcc):
    """Where the static runtime is, by the compiler's own account, and what it needs."""
    said = subprocess.run([*nvcc, "--dryrun", "-x", "cu", os.devnull], capture_output=True, text=True)
    folders = re.findall(r'"?-L([^"\s]+)"?', said.stderr)
    return [*(f"-L{folder}" for folder in folders if not folder.endswith("stubs")),
            "-lcudart_static", "-ldl", "-lrt", "-lpthread"]


def eigen_include_dir():
    candidates = [os.environ.get("EIGEN_INCLUDE_DIR", "")]
    candidates += [os.path.join(p, "cmeel.prefix", "include", "eigen3") for p in sys.path]
    candidates += ["/usr/include/eigen3", "/usr/local/include/eigen3", "/opt/homebrew/include/eigen3"]
    for candidate in candidates:
        if candidate and os.path.exists(os.path.join(candidate, "Eigen", "Core")):
            return candidate
    raise SystemExit("Eigen's headers were not found: install cmeel-eigen or a system Eigen "
                     "(libeigen3-dev), or set EIGEN_INCLUDE_DIR")


class BuildExt(build_ext):
    """Compiles what has changed with all cores, then links the modules."""

    def build_extensions(self):
        self.choose_compiler()
        self.choose_flags()
        jobs = [*self.core_jobs(), *self.device_jobs()]
        of_core = len(jobs)
        of_modules = [self.module_jobs(extension) for extension in self.extensions]
        for some in of_modules:
            jobs += some
        with ThreadPoolExecutor(int(self.parallel or os.cpu_count() or 1)) as pool:
            objects = [*pool.map(lambda job: self.compile_one(*job), jobs)]
        library = self.archive(objects[:of_core])
        objects = iter(objects[of_core:])
        for extension, some in zip(self.extensions, of_modules):
            extension.sources = []
            extension.extra_objects = [*(next(objects) for _ in some), library]
            extension.depends = list(extension.extra_objects)
            extension.extra_link_args = list(self.link_flags)
        super().build_extensions()

    def choose_compiler(self):
        """Sets ``cxx``, the command, and ``includes``, the libraries' headers."""
        import numpy
        import pybind11

        self.is_windows = self.compiler.compiler_type == "msvc"
        if self.is_windows:  # MSVC does not know the vector types of the core; it links what clang compiles
            of_python = [*shlex.split(os.environ.get("CXX", "clang++")), "-fms-runtime-lib=dll"]
        else:
            of_python = getattr(self.compiler, "compiler_so_cxx", None) or self.compiler.compiler_so
        self.cxx = [flag for flag in of_python if not REPLACED_FLAGS.fullmatch(flag)]
        self.eigen = ["-isystem", eigen_include_dir()]
        self.libraries = [*self.eigen]
        paths = sysconfig.get_paths()
        for folder in (paths["include"], paths["platinclude"], numpy.get_include(),
                       pybind11.get_include()):
            self.libraries += ["-isystem", folder]
        with tempfile.TemporaryDirectory() as folder:
            said = self.build_program(folder, "#include <Python.h>\nint main() {}\n",
                                      ["-std=c++17", *self.libraries])
        if said:
            raise SystemExit(f"{NO_COMPILER}{said}")
        # What stands for the folders of headers, which isolated builds have in another place
        # every time.
        macros = Path(self.eigen[1], "Eigen", "src", "Core", "util", "Macros.h")
        version = subprocess.run([*self.cxx[:2], "--version"], capture_output=True, text=True)
        self.core_versions = [digest(macros), version.stdout]
        self.module_versions = [sys.version, numpy.__version__, pybind11.__version__]

    def build_program(self, folder, source, compile_flags, link_flags=()):
        """Compiles and links a small program ``folder/probe``; what went wrong, or ''."""
        path = Path(folder, "probe.cpp")
        path.write_text(source)
        command = [*self.cxx, *compile_flags, str(path), *link_flags,
                   *shlex.split(os.environ.get("LDFLAGS", "")), "-o", str(path.with_suffix(""))]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            return f"{shlex.join(command)}\n{error}"
        return "" if done.returncode == 0 else f"{shlex.join(command)}\n{done.stderr[-1000:]}"

    def choose_flags(self):
        self.common_flags = ["-std=c++17", "-fvisibility=hidden", "-fno-math-errno", "-fwrapv"]
        # Threads are the core's business (core/parallel.hpp), not Eigen's.
        self.common_flags += ["-DEIGEN_DONT_PARALLELIZE"]
        if self.is_windows:
            self.common_flags += ["-D_USE_MATH_DEFINES", "-DNOMINMAX"]
            # Clang's own library, which asks the processor for its instruction sets.
            of_clang = [*self.cxx, "--rtlib=compiler-rt", "-print-libgcc-file-name"]
            self.link_flags = [subprocess.check_output(of_clang, text=True).strip()]
        else:
            self.common_flags += ["-pthread"]
            self.link_flags = ["-pthread"]
        if SANITIZE:
            flags = [f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer", "-g1"]
            self.common_flags += [*flags, "-UNDEBUG", "-fno-sanitize-recover=all"]
            self.link_flags += flags
        else:
            self.common_flags += ["-DNDEBUG"]
        self.add_openmp()
        self.add_cuda()
        self.instruction_sets = self.supported_instruction_sets()
        self.common_flags += [f"-DFCTREE_BUILT_{name.upper()}" for name in self.instruction_sets]

    def add_openmp(self):
        # The thread sanitizer understands plain threads only.
        if os.environ.get("FCTREE_OPENMP", "1") == "0" or "thread" in SANITIZE or self.is_windows:
            return
        source = "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"
        for compile_flags, link_flags in OPENMP_FLAGS:
            with tempfile.TemporaryDirectory() as folder:
                if self.build_program(folder, source, compile_flags, link_flags):
                    continue
                try:
                    works = subprocess.run([str(Path(folder, "probe"))], capture_output=True).returncode == 0
                except OSError:  # compiled for another processor
                    works = True
                if works:
                    self.common_flags += compile_flags
                    self.link_flags += link_flags
                    return
        print("OpenMP was not found: fctree is built with plain threads")

    def add_cuda(self):
        self.nvcc = None
        self.cuda_defines = []
        if os.environ.get("FCTREE_CUDA", "0") == "0":
            return
        nvcc = cuda_compiler()
        reason = self.cuda_fault(nvcc) if nvcc else "nvcc was not found"
        if reason is not None:
            raise SystemExit(f"FCTREE_CUDA={os.environ['FCTREE_CUDA']}: {reason}")
        self.nvcc = nvcc
        self.cuda_defines = ["-DFCTREE_CUDA"]
        self.link_flags += cuda_link_flags(nvcc)

    def cuda_fault(self, nvcc):
        """Why a small CUDA program cannot be built, or None."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "probe.cu"), Path(folder, "probe.o")
            source.write_text(CUDA_PROBE)
            compiling = [*nvcc, *CUDA_FLAGS, "-c", str(source), "-o", str(target)]
            linking = [*self.compiler.linker_exe, str(target), *cuda_link_flags(nvcc), "-lstdc++",
                       "-o", str(Path(folder, "probe"))]
            for command in (compiling, linking):
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode != 0:
                    return f"{nvcc[-1]} does not build a small program ({done.stderr[-300:]})"
        return None

    def supported_instruction_sets(self):
        names = {"baseline": INSTRUCTION_SETS["baseline"]}
        if platform.machine().lower() in ("x86_64", "amd64"):
            for name in ("avx2", "avx512"):
                with tempfile.TemporaryDirectory() as folder:
                    if self.build_program(folder, "int main() {}\n", INSTRUCTION_SETS[name]):
                        break
                names[name] = INSTRUCTION_SETS[name]
        return names

    def parsed_headers(self, command):
        """The flags that read the core's headers as the compiler has parsed them, once.

        Without them builds with sanitizers, so that one build shows whether a file includes what
        it needs, and those with ccache, which does not keep objects that were made with them.
        """
        if SANITIZE or "ccache" in Path(self.cxx[0]).name:
            return []
        header = OBJECTS / "headers" / "core.hpp"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("".join(f"#include <{each}>\n" for each in CORE_HEADERS))
        self.compile_one(header, "headers", [*command, "-x", "c++-header"], f"{header}.gch")
        return ["-include", str(header)]

    def core_jobs(self):
        """(source, folder of the object, command) of each object of the core."""
        command = [*self.cxx, *self.common_flags, f"-I{NATIVE}", *self.eigen]
        fast = "-O1" if SANITIZE else "-O3"  # checked memory accesses take a compiler long
        plain = [*command, fast, "-ffp-contract=off"]
        headers = self.parsed_headers(plain)
        jobs = []
        for source in sorted(NATIVE.rglob("*.cpp")):
            if source.name.endswith(".isa.cpp"):
                for name, flags in self.instruction_sets.items():
                    own = [fast, *flags, f"-DFCTREE_ISA={name}", "-ffp-contract=fast"]
                    jobs.append((source, name, [*command, *own]))
                continue
            if source.parent.name != "cuda":
                jobs.append((source, "core", [*plain, *headers]))
                continue
            # What a device's threads do, emulated for tests, is not made to be fast; its headers
            # say where loops are unrolled in nvcc's words.
            flags = ["-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", *self.cuda_defines]
            jobs.append((source, "core", [*command, *flags]))
        return jobs

    def device_jobs(self):
        sources = sorted(NATIVE.rglob("*.cu")) if self.nvcc else []
        return [(source, "device", [*(self.nvcc or []), *CUDA_FLAGS, f"-I{NATIVE}"])
                for source in sources]

    def module_jobs(self, extension):
        """The same of a module's objects; its Cython is translated first."""
        # Bindings check, copy and call: no loop of theirs takes time.
        command = [*self.cxx, *self.common_flags, "-O0" if SANITIZE else "-O1", "-ffp-contract=off",
                   *self.cuda_defines, f"-I{NATIVE}", f"-I{BINDINGS}", *self.libraries,
                   "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
        folder = f"modules-{sysconfig.get_config_var('SOABI')}"
        sources = map(Path, extension.sources or [f"{MEMORYVIEWS.replace('.', '/')}.c"])
        return [(source if source.suffix == ".cpp" else self.translated(source), folder, command)
                for source in sources]

    def translated(self, source):
        """The C++ file of a Cython module, translated if it or a declaration has changed; Cython
        makes that of MEMORYVIEWS from nothing."""
        import Cython
        import numpy
        from Cython.Build import cythonize

        of_cython = source.suffix == ".pyx"
        target = Path("build", "cython", source)
        target = target.with_suffix(".cpp") if of_cython else target
        inputs = [source, *sorted(BINDINGS.glob("*.pxd"))] if of_cython else []
        signature = [Cython.__version__, numpy.__version__, MEMORYVIEWS, *map(digest, inputs)]
        if self.force or not is_made_by(target, signature):
            language = {"language": "c++"} if of_cython else {}
            module = Extension(f"fctree._native.{source.stem}", [str(source)], **language)
            directives = {"language_level": 3, "boundscheck": False, "wraparound": False}
            cythonize([module], build_dir="build/cython", force=True, compiler_directives=directives,
                      shared_utility_qualified_name=MEMORYVIEWS)
            digest.cache_clear()
            sign(target, signature)
        return target

    def compile_one(self, source, folder, command, target=None):
        name = os.path.relpath(source, ROOT)
        target = Path(target or Path(OBJECTS, folder, name).with_suffix(".o"))
        listing = target.with_suffix(".d")
        versions = [*self.core_versions, *(self.module_versions if "modules" in folder else [])]
        # Isolated builds have the libraries' headers in another folder every time.
        told = [word for word in command if word not in self.libraries or word == "-isystem"]

        def signature():
            return [*told, *versions, *map(digest, dependencies(listing))]

        if self.force or not target.exists() or not is_made_by(target, signature()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            print(f"compiling {name} ({folder})", flush=True)
            command = [*command, "-MMD", "-MF", str(listing), "-c", name, "-o", str(target)]
            if subprocess.run(command, cwd=ROOT).returncode != 0:
                raise SystemExit(f"{name} was not compiled: {shlex.join(command)}")
            sign(target, signature())
        return str(target)

    def archive(self, objects):
        library = OBJECTS / "core" / self.compiler.library_filename("fctree_core")
        signature = [digest(path) for path in objects]
        if not is_made_by(library, signature):
            library.unlink(missing_ok=True)  # or it keeps objects whose source is gone
            self.compiler.create_static_lib(objects, "fctree_core", output_dir=str(library.parent))
            sign(library, signature)
        return str(library)


def long_description():
    """The README without what only the repository has: its pictures, and links to its files."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^]]*\]\((?!https:)[^)]*\)\n+", "", text, flags=re.M)
    return re.sub(r"\[([^]]+)\]\((?!https:)[^)]*\)", r"\1", text)


def extension(name, *sources):
    return Extension(f"fctree._native.{name}", [f"fctree/_native/{source}" for source in sources],
                     language="c++")


setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    ext_modules=[
        *(extension(path.stem, path.name) for path in sorted(BINDINGS.glob("*.pyx"))),
        extension("matrix", "matrix.cpp"),
        extension("memoryviews"),
    ],
    cmdclass={"build_ext": BuildExt},
)
