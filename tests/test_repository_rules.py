"""The rules of the house that a machine can check (docs/architecture.md states them)."""

import ast
import graphlib
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import fctree

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "native"
FOLDERS = ("native", "fctree", "tests", "benchmarks", "examples", "docs", ".ci", ".github")
GENERATED = {"__pycache__", "_build", "generated"}  # the last two by the site
CODE_SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".pyx", ".pxd"}
# Each folder of the core, and those that its files may include.
LAYERS = {
    "core": (),
    "ridge": ("core",),
    "oblique": ("core", "ridge"),
    "ensembles": ("core", "ridge", "oblique"),
    "symmetric": ("core",),
    "kernels": ("core",),
    "cuda": ("core", "kernels"),
    "soft": ("core",),
    "distributed": ("core", "ridge", "oblique", "ensembles"),
    "inspection": ("core", "ensembles", "symmetric"),
}

# Parameters of the core that the estimators derive from theirs, and from which.
DERIVED_PARAMETERS = {
    "ridge_leaves": "leaf_model",
    "impurity_scale": None,
    "max_leaves": None,  # of forests' step trees
    "target_unit": None,
    "choose_alpha": "alpha",
    "direction_kinds": "directions",
    "ridge_criterion": None,  # of curvature trees
    "refines_cuts": None,  # of single trees
    "node_features": None,  # of forests
}


def files(*suffixes, folders=FOLDERS):
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted(
        path
        for path in found
        if (not suffixes or path.suffix in suffixes)
        and not GENERATED & set(path.relative_to(ROOT).parts)
    )


def text_files():
    binary = {".png", ".so", ".o", ".a", ".pyc", ".fctree", ".npz"}
    top = [path for path in ROOT.iterdir() if path.suffix in {".py", ".md", ".toml", ".in"}]
    return [path for path in files() + top if path.suffix not in binary]


def native_sources():
    return files(".cpp", ".hpp", ".h", ".cu", ".cuh", folders=("native",))


def quoted_includes(path):
    return re.findall(r'^\s*#include "([^"]+)"', path.read_text(), flags=re.M)


def test_there_is_something_to_check():
    assert len(native_sources()) > 10
    assert len(text_files()) > 40


def test_includes_point_one_way():
    """A file includes what is below it: its own folder and those of LAYERS."""
    assert {path.name for path in NATIVE.iterdir() if path.is_dir()} == set(LAYERS)
    for path in native_sources():
        folder = path.relative_to(NATIVE).parts[0]
        for include in quoted_includes(path):
            allowed = {folder, *LAYERS[folder]}
            assert include.split("/")[0] in allowed, f"{path.relative_to(ROOT)}: {include}"


def concept(name):
    """A header and its sources are one; what is compiled for a device is another."""
    return re.sub(r"(\.isa)?\.(hpp|cpp|h)$", "", name)


def test_no_file_includes_one_above_it():
    below = {}
    for path in native_sources():
        own = concept(str(path.relative_to(NATIVE)))
        below.setdefault(own, set()).update(map(concept, quoted_includes(path)))
        below[own].discard(own)
    tuple(graphlib.TopologicalSorter(below).static_order())  # raises CycleError


def test_each_folder_has_its_namespace():
    for path in native_sources():
        folder = path.relative_to(NATIVE).parts[0]
        own = "fctree" if folder == "core" else f"fctree::{folder}"
        if folder == "cuda":  # which teaches the kernels a number of its own
            own = "fctree::(cuda|kernels)"
        for name in re.findall(r"^namespace (fctree[\w:]*) {", path.read_text(), flags=re.M):
            assert re.fullmatch(rf"{own}(::FCTREE_ISA)?", name), f"{path.relative_to(ROOT)}: {name}"


def test_no_folder_outgrows_the_others():
    lines = {}
    for path in native_sources():
        folder = path.relative_to(NATIVE).parts[0]
        lines[folder] = lines.get(folder, 0) + len(path.read_text().splitlines())
    assert max(lines.values()) <= sum(lines.values()) / 5, lines


def test_unit_tests_mirror_what_they_test():
    """Folders are named after those of the core and of the package, but for those that only other tests check."""
    elsewhere = {"core", "dask", "distributed", "intervals", "kernel_ridge", "native", "persistence", "soft", "training"}
    package, folders = ({path.name.lstrip("_") for path in folder.iterdir() if path.is_dir() and path.name not in GENERATED}
                        for folder in (ROOT / "fctree", ROOT / "tests" / "unit"))
    assert not folders & elsewhere
    assert folders | elsewhere == set(LAYERS) | package


def parameter_counts(text):
    """(name, number of parameters) of what looks like a declaration of a C++ function."""
    text = re.sub(r'//.*|"(\\.|[^"\\])*"', "", text)
    for found in re.finditer(r"\b(\w+)\(((?:[^()]|\([^()]*\))*)\)", text):
        inner = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", found.group(2)))
        parts = re.sub(r"[({\[][^)}\]]*[)}\]]", "", inner).split(",")
        if all(re.search(r"[\w>&*]\s+[&*]*\w+(\s*=.*)?\s*$", part.strip()) for part in parts):
            yield found.group(1), len(parts)


def test_native_functions_have_few_parameters():
    assert dict(parameter_counts("void f(int a, const T<A, B>& b, double* c = g(1, 2));")) == {"f": 3}
    for path in native_sources():
        for name, n_parameters in parameter_counts(path.read_text()):
            assert n_parameters <= 6, f"{path.relative_to(ROOT)}: {name} has {n_parameters}"


def test_python_stays_in_the_bindings():
    for path in native_sources():
        assert not re.search(r"#include\s*[<\"](Python\.h|pybind11|numpy)", path.read_text()), path


def test_threads_start_in_one_file():
    for path in files(".cpp", ".hpp", ".pyx", folders=("native", "fctree")):
        if path.name in ("parallel.cpp", "parallel.hpp") and path.parent.name == "core":
            continue
        text = path.read_text()
        assert not re.search(r"std::(j?thread|async)\b|pthread_create|pragma\s+omp|omp\.h|\bomp_\w+\(|\bprange\b", text), path


def test_random_engines_stay_in_their_file():
    for path in native_sources():
        if path.name in ("rng.cpp", "rng.hpp"):
            continue
        assert not re.search(r"#include <random>|\bmt19937|\bs?rand\(", path.read_text()), path


def per_instruction_set(path):
    """Whether a header's code is compiled once per instruction set, in a namespace of its own."""
    return path.is_file() and re.search(r"^namespace (fctree::\w+::)?FCTREE_ISA {", path.read_text(), re.M)


def test_hot_translation_units_share_no_templates():
    """A *.isa.cpp may only include what has no instances that copies could share: its own
    header, and headers whose code is in the instruction set's namespace."""
    hot = sorted(NATIVE.rglob("*.isa.cpp"))
    assert hot
    for path in hot:
        waiting, seen = [path], set()
        own = f"{path.parent.name}/{path.name.replace('.isa.cpp', '.hpp')}"
        while waiting:
            source = waiting.pop()
            seen.add(source)
            system = set(re.findall(r"#include <([^>]+)>", source.read_text()))
            intrinsics = {"immintrin.h"} if per_instruction_set(source) else set()
            assert system <= {"cstddef", "cstdint"} | intrinsics, f"{path.name}: {source.name}"
            for include in quoted_includes(source):
                header = NATIVE / include
                assert include == own or per_instruction_set(header), f"{path.name}: {include}"
                waiting += [header] if header not in seen else []


@pytest.mark.parametrize("limit", [400])
def test_files_are_short(limit):
    for path in [*files(*CODE_SUFFIXES), ROOT / "setup.py"]:
        n_lines = len(path.read_text().splitlines())
        assert n_lines <= limit, f"{path.relative_to(ROOT)} has {n_lines} lines"


def body_length(function):
    """Lines of a function without its docstring."""
    first = function.body[0]
    length = function.end_lineno - function.lineno + 1
    if isinstance(first, ast.Expr) and isinstance(getattr(first, "value", None), ast.Constant):
        length -= first.end_lineno - first.lineno + 1
    return length


def test_python_functions_are_short():
    for path in [*files(".py", folders=("fctree", "benchmarks", "examples")), ROOT / "setup.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert body_length(node) <= 60, f"{path.relative_to(ROOT)}: {node.name}"


def test_private_names_of_scikit_learn_are_in_one_module():
    for path in files(".py"):
        if path.relative_to(ROOT).parts[0] != "fctree" or path.name == "_sklearn.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), f"{path}: {names}"


def test_docstrings_begin_with_a_noun_or_a_verb():
    """Or they ask a question, as those of the benchmarks do."""
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                asks = re.match(r"(How|Which|Who) [^.?]*\?", text)
                begins = re.match(r"(What|How|Which|Who) ", text)
                assert asks or not begins, f"{path.relative_to(ROOT)}: {text[:60]}"


def test_file_names_say_what_is_inside():
    for path in files(*CODE_SUFFIXES):
        assert not re.search(r"utils?|helpers?|common|manager", path.stem), path


def test_no_unfinished_words():
    words = "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "not implemented " + "yet"])
    for path in text_files():
        assert not re.search(rf"\b({words})\b", path.read_text()), path.relative_to(ROOT)


def test_no_machine_paths():
    roots = "|".join(["work", "root", "farm", "tmp", "home", "Users"])
    for path in text_files():
        found = re.search(rf"(?<![\w.$}}])/({roots})/[a-z]\w*", path.read_text())
        assert not found, f"{path.relative_to(ROOT)}: {found.group()}"


def test_no_package_index_is_named():
    hosts = r"\b(pypi|pythonhosted|anaconda|npmjs)\.(org|com)\b"
    for path in text_files():
        assert not re.search(hosts, path.read_text()), path.relative_to(ROOT)


def test_every_public_name_is_in_the_reference():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    listed = [name for names in reference.sections().values() for name in names]
    assert len(listed) == len(set(listed))
    expected = {"torch.TreeEnsembleLayer", "dask.tree_ntk"}
    for name in {*fctree.__all__} - {"__version__"}:
        value = getattr(fctree, name)
        expected |= {f"{name}.{own}" for own in value.__all__} if inspect.ismodule(value) else {name}
    assert expected <= set(listed)


def test_there_are_examples_of_much():
    """Those that the gallery runs; scripts beside them are told of elsewhere."""
    texts = [path.read_text() for path in (ROOT / "examples").glob("plot_*.py")]
    assert len(texts) >= 12
    for name in ("CurvatureTree", "CurvatureForest", "CurvatureBoosting", "SymmetricBoosting", "SoftTree", "TreeNTK",
                 "shap_values", "variable_importance", "predict_interval", "distill", "plot_regions"):
        assert any(name in text for text in texts), name


def test_python_versions_are_the_same_everywhere():
    project = (ROOT / "pyproject.toml").read_text()
    minors = re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', project)
    first, last = minors[0], minors[-1]
    assert minors == [str(minor) for minor in range(int(first), int(last) + 1)]
    assert f'requires-python = ">=3.{first}"' in project
    assert f'build = "cp3{{{",".join(minors)}}}-*"' in project
    assert f"Python 3.{first} to 3.{last}" in (ROOT / "README.md").read_text()


def struct_fields(path, name):
    body = re.search(rf"struct {name} {{(.*?)}};", path.read_text(), flags=re.S).group(1)
    body = re.sub(r"//.*", "", body)
    return re.findall(r"(\w+)(?:\s*=[^;]*)?;", body)


TREES = {
    name: getattr(fctree, name)
    for name in ("CurvatureTreeRegressor", "CurvatureTreeClassifier", "FCODTRegressor",
                 "FCODTClassifier")
}


def parameters_of(estimator):
    return list(inspect.signature(estimator).parameters)


def test_parameters_have_one_name_on_both_sides():
    fields = struct_fields(NATIVE / "oblique" / "params.hpp", "ObliqueParams")
    own = {DERIVED_PARAMETERS.get(field, field) for field in fields} - {None}
    for task in ("Regressor", "Classifier"):
        curvature, paper = TREES[f"CurvatureTree{task}"], TREES[f"FCODT{task}"]
        assert own <= {*parameters_of(curvature), *parameters_of(paper)}
        for tree in (curvature, paper):
            assert own <= {*parameters_of(tree), *tree._fixed}
    binding = (ROOT / "fctree" / "_native" / "oblique.pxd").read_text()
    struct = re.search(r"cdef struct ObliqueParams:\n((?:        .*\n)+)", binding).group(1)
    assert re.findall(r"(\w+)$", struct, flags=re.M) == fields


@pytest.mark.parametrize("kind, most", [
    ("CurvatureTree", 16), ("FCODT", 16), ("CurvatureForest", 22), ("CurvatureBoosting", 26),
    ("SymmetricBoosting", 26)])
@pytest.mark.parametrize("task", ["Regressor", "Classifier"])
def test_parameters_are_few(kind, task, most):
    assert len(parameters_of(getattr(fctree, kind + task))) <= most


def test_ensembles_have_their_trees_parameters_in_one_place():
    """Parameters that an ensemble shares with its tree override it unless they are None, the
    default."""
    own = {"max_depth", "alpha", "min_samples_leaf", "max_coef", "n_jobs", "random_state"}
    trees = {name for tree in TREES.values() for name in parameters_of(tree)}
    for kind in ("CurvatureForest", "CurvatureBoosting"):
        for task in ("Regressor", "Classifier"):
            signature = inspect.signature(getattr(fctree, kind + task)).parameters
            assert trees & set(signature) == {*own, "categorical_features"}
            assert all(signature[name].default is None for name in own)


@pytest.mark.parametrize(
    "estimator", [fctree.SymmetricBoostingRegressor, fctree.SymmetricBoostingClassifier]
)
def test_boosting_parameters_have_one_name_on_both_sides(estimator):
    fields = struct_fields(NATIVE / "symmetric" / "params.hpp", "BoostingParams")
    assert set(fields) - {"seed", "model_shrink_rate"} <= set(inspect.signature(estimator).parameters)
    binding = (ROOT / "fctree" / "_native" / "symmetric.pxd").read_text()
    struct = re.search(r"cdef struct BoostingParams:\n((?:        .*\n)+)", binding).group(1)
    assert re.findall(r"(\w+)$", struct, flags=re.M) == fields


@pytest.mark.parametrize("estimator", [fctree.SoftTreeRegressor, fctree.SoftTreeClassifier])
def test_soft_tree_parameters_have_one_name_on_both_sides(estimator):
    fields = struct_fields(NATIVE / "soft" / "params.hpp", "SoftTreeParams")
    assert set(fields) - {"seed"} <= set(inspect.signature(estimator).parameters)
    binding = (ROOT / "fctree" / "_native" / "soft.pxd").read_text()
    struct = re.search(r"cdef struct SoftTreeParams:\n((?:        .*\n)+)", binding).group(1)
    assert re.findall(r"(\w+)$", struct, flags=re.M) == fields


@pytest.mark.parametrize("name", [name for name in fctree.__all__ if "Classifier" in name])
def test_classifiers_are_documented_without_their_regressors(name):
    text = inspect.getdoc(getattr(fctree, name))
    assert not re.search(r"\b[Aa]s (in|for)\s+(the regressor|\S*Regressor)", text)
    parameters = text[text.index("Parameters\n---"):text.index("Attributes\n---")]
    documented = re.findall(r"^(\w+(?:, \w+)*) :", parameters, flags=re.M)
    assert {*", ".join(documented).split(", ")} == {*parameters_of(getattr(fctree, name))}


@pytest.mark.parametrize("module", [fctree.kernels, fctree.inspection])
def test_functions_are_documented_without_their_relatives(module):
    for name in module.__all__:
        if inspect.isfunction(getattr(module, name)):
            text = inspect.getdoc(getattr(module, name))
            assert not re.search(r"^    As (in|for) `\w+`\.$", text, flags=re.M), name


def test_core_structs_have_no_defaults():
    for path in NATIVE.rglob("params.hpp"):
        assert not re.search(r"^  \w+ \w+\s*(=|\{)", path.read_text(), flags=re.M), path


@pytest.mark.parametrize(
    "struct, estimators",
    [
        ("ObliqueBoostingParams", (fctree.CurvatureBoostingRegressor, fctree.CurvatureBoostingClassifier)),
        ("ObliqueForestParams", (fctree.CurvatureForestRegressor, fctree.CurvatureForestClassifier)),
    ],
)
def test_ensemble_parameters_have_one_name_on_both_sides(struct, estimators):
    header = NATIVE / "ensembles" / "params.hpp"
    fields = struct_fields(header, struct)
    for estimator in estimators:
        own = {*parameters_of(estimator), *TREES["CurvatureTreeRegressor"]().get_params()}
        assert set(fields) - {"seed", "target_unit", "rounds_features", "halved_from", "linear_competes"} <= own
    assert not re.search(r"^  \w+ \w+\s*(=|\{)", header.read_text(), flags=re.M)
    binding = (ROOT / "fctree" / "_native" / "ensembles.pxd").read_text()
    text = re.search(rf"cdef struct {struct}:\n((?:        .*\n)+)", binding).group(1)
    assert re.findall(r"(\w+)$", text, flags=re.M) == fields
