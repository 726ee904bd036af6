"""Builds the native core once, as a static library, and the extension modules on it.

Every ``native/**/*.isa.cpp`` is compiled once per instruction set (the core chooses at run
time); everything else once. The environment can say:

FCTREE_OPENMP=0            build without OpenMP (it is probed otherwise)
FCTREE_SANITIZE=address,undefined   or ``thread``: build with sanitizers, and without CUDA
FCTREE_CUDA=0              build without CUDA, 1: fail without it (else it is built where nvcc is)
NVCC                       CUDA's compiler (else the one on the path, or that of CUDA_HOME)
EIGEN_INCLUDE_DIR          where Eigen's headers are (else cmeel-eigen's, else the system's)
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pybind11
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
NATIVE = ROOT / "native"
SANITIZE = os.environ.get("FCTREE_SANITIZE", "")

# name: (compiler flags, preprocessor flag that says it is built)
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
    raise SystemExit(
        "Eigen's headers were not found: install cmeel-eigen or a system Eigen "
        "(libeigen3-dev), or set EIGEN_INCLUDE_DIR"
    )


class BuildExt(build_ext):
    """Compiles the core with all cores, then the modules that link it."""

    def build_extensions(self):
        self.parallel = int(self.parallel or os.cpu_count() or 1)
        self.common_flags = ["-std=c++17", "-O3", "-fvisibility=hidden", "-fno-math-errno"]
        self.common_flags += ["-Wno-maybe-uninitialized"]  # false alarms in Eigen and intrinsics
        # Threads are the core's business (core/parallel.hpp), not Eigen's.
        self.common_flags += ["-DEIGEN_DONT_PARALLELIZE"]
        self.link_flags = []
        if SANITIZE:
            flags = [f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer", "-g"]
            self.common_flags += [*flags, "-UNDEBUG", "-fno-sanitize-recover=all"]
            self.link_flags += flags
        else:
            self.common_flags += ["-DNDEBUG", "-g0"]  # Python's own flags ask for -g
        self.add_openmp()
        self.add_cuda()
        self.isa_flags = self.supported_instruction_sets()
        defines = [f"-DFCTREE_BUILT_{isa.upper()}" for isa in self.isa_flags]
        self.common_flags += defines

        objects = self.compile_core()
        library = self.archive(objects)
        for extension in self.extensions:
            extension.extra_compile_args = [*self.common_flags, "-ffp-contract=off"]
            extension.extra_compile_args += self.cuda_defines()
            extension.extra_link_args = list(self.link_flags)
            extension.extra_objects = [library]
            extension.depends = [*objects, *map(str, headers())]
        super().build_extensions()

    def compiles(self, source, compile_flags, link_flags=(), run=False):
        """Whether a small program compiles and links (and runs) with these flags."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "probe.cpp")
            path.write_text(source)
            command = [*self.compiler.compiler_so, *compile_flags, str(path)]
            command += [*link_flags, "-o", str(Path(folder, "probe"))]
            done = subprocess.run(command, capture_output=True)
            if done.returncode == 0 and run:
                done = subprocess.run([str(Path(folder, "probe"))], capture_output=True)
            return done.returncode == 0

    def add_openmp(self):
        if os.environ.get("FCTREE_OPENMP", "1") == "0":
            return
        source = "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"
        for compile_flags, link_flags in OPENMP_FLAGS:
            if self.compiles(source, compile_flags, link_flags, run=True):
                self.common_flags += compile_flags
                self.link_flags += link_flags
                return
        print("OpenMP was not found: fctree is built to run on one thread")

    def add_cuda(self):
        self.nvcc = None
        wanted = os.environ.get("FCTREE_CUDA", "0" if SANITIZE else "")
        if wanted == "0":
            return
        nvcc = cuda_compiler()
        reason = self.cuda_fault(nvcc) if nvcc else "nvcc was not found"
        if reason is None:
            self.nvcc = nvcc
            self.link_flags += cuda_link_flags(nvcc)
        elif wanted == "1":
            raise SystemExit(f"FCTREE_CUDA=1: {reason}")
        else:
            print(f"{reason}: fctree is built without CUDA")

    def cuda_defines(self):
        return ["-DFCTREE_CUDA"] if self.nvcc else []

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
                if not self.compiles("int main() {}\n", INSTRUCTION_SETS[name]):
                    break
                names[name] = INSTRUCTION_SETS[name]
        return names

    def compile_core(self):
        jobs = []
        for source in sorted(NATIVE.rglob("*.cpp")):
            if source.name.endswith(".isa.cpp"):
                for isa, flags in self.isa_flags.items():
                    jobs.append((source, isa, [*flags, f"-DFCTREE_ISA={isa}", "-ffp-contract=fast"]))
            else:
                flags = ["-ffp-contract=off"]
                # The device's headers say where loops are unrolled in nvcc's words.
                if source.parent.name == "cuda":
                    flags += ["-Wno-unknown-pragmas", *self.cuda_defines()]
                jobs.append((source, "core", flags))
        on_device = sorted(NATIVE.rglob("*.cu")) if self.nvcc else []
        with ThreadPoolExecutor(self.parallel) as pool:
            compiled = pool.map(self.compile_for_device, on_device)
            return [*pool.map(lambda job: self.compile_one(*job), jobs), *compiled]

    def archive(self, objects):
        library = Path(self.build_temp, self.compiler.library_filename("fctree_core"))
        library.unlink(missing_ok=True)  # or it keeps objects whose source is gone
        self.compiler.create_static_lib(objects, "fctree_core", output_dir=self.build_temp)
        return str(library)

    def compile_for_device(self, source):
        target = Path(self.build_temp, "device", f"{source.stem}.o")
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.outdated(target, source):
            command = [*self.nvcc, *CUDA_FLAGS, f"-I{NATIVE}", "-c", str(source), "-o", str(target)]
            print(shlex.join(command))
            subprocess.run(command, check=True)
        return str(target)

    def outdated(self, target, source):
        newest = max(path.stat().st_mtime for path in [source, Path(__file__), *headers()])
        return self.force or not target.exists() or target.stat().st_mtime < newest

    def compile_one(self, source, variant, flags):
        relative = os.path.relpath(source, os.getcwd())
        folder = os.path.join(self.build_temp, variant)
        target = Path(self.compiler.object_filenames([relative], output_dir=folder)[0])
        if self.outdated(target, source):
            self.compiler.compile(
                [relative],
                output_dir=folder,
                include_dirs=[str(NATIVE), eigen_include_dir()],
                extra_postargs=[*self.common_flags, *flags],
            )
        return str(target)


def headers():
    found = [path for ending in ("hpp", "h", "cuh") for path in NATIVE.rglob(f"*.{ending}")]
    return [*found, *(ROOT / "fctree" / "_native").glob("*.hpp")]


def extension(name, sources, *include_dirs):
    return Extension(
        f"fctree._native.{name}",
        [f"fctree/_native/{source}" for source in sources.split()],
        include_dirs=["native", "fctree/_native", eigen_include_dir(), *include_dirs],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        language="c++",
    )


setup(
    ext_modules=[
        *cythonize(
            [
                extension(name, f"{name}.pyx", numpy.get_include())
                for name in (
                    "symmetric", "core", "ensembles", "oblique",
                    "soft",
                )
            ],
            compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False},
        ),
        extension("matrix", "matrix.cpp", pybind11.get_include()),
        extension("kernels", "kernels.cpp device_kernels.cpp", pybind11.get_include()),
    ],
    cmdclass={"build_ext": BuildExt},
)
