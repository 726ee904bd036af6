"""Every Python block of README and docs runs: those of one page in order, in one namespace.

A block after a comment ``<!-- not run: why -->`` is left out.
"""

import re
from pathlib import Path

import fctree
import numpy as np
import pytest
from fctree._training.samples import Samples

ROOT = Path(__file__).resolve().parents[2]
BUILT = {"_build", "generated"}  # by the site
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not BUILT & set(page.parts))]
BLOCK = re.compile(r"^(<!-- not run: [^\n]+ -->\n)?```(\w*)\n(.*?)^```$", flags=re.M | re.S)
ADDRESS = "scheduler-address:8786"  # of a cluster that the pages speak of


def python_blocks(page):
    """(line, code) of each block that is run."""
    text = page.read_text()
    return [(text.count("\n", 0, match.start(3)), match[3])
            for match in BLOCK.finditer(text) if match[2] == "python" and not match[1]]


def run_page(page, address=ADDRESS):
    namespace = {"__name__": "page"}
    for line, code in python_blocks(page):
        exec(compile("\n" * line + code.replace(ADDRESS, address), page.name, "exec"), namespace)
    return namespace


WITH_BLOCKS = [page for page in PAGES if python_blocks(page)]
USES_A_CLUSTER = [page for page in WITH_BLOCKS if ADDRESS in page.read_text()]


def test_there_are_blocks():
    assert len(WITH_BLOCKS) > 10 and len(USES_A_CLUSTER) == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_has_a_language(page):
    fences = re.findall(r"^```(\w*)$", page.read_text(), flags=re.M)
    assert len(fences) % 2 == 0 and set(fences[1::2]) <= {""}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_items_of_numbered_lists_follow_each_other(page):
    """Text may lie between them; a number that begins a line inside a paragraph is none."""
    last, in_paragraph = 0, False
    for line in BLOCK.sub("", page.read_text()).splitlines():
        item = None if in_paragraph else re.match(r"(\d+)\. ", line)
        if item:
            assert int(item[1]) in (1, last + 1), line
        last = int(item[1]) if item else 0 if line.startswith("#") else last
        in_paragraph = bool(line) and not item and (in_paragraph or not line.startswith(" "))


@pytest.mark.parametrize("page", [page for page in WITH_BLOCKS if page not in USES_A_CLUSTER],
                         ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    for word, library in (("import torch", "torch"), ("to_shap(", "shap"), ("to_onnx(", "onnx"),
                          ("import onnxruntime", "onnxruntime"), ("import skl2onnx", "skl2onnx")):
        if word in page.read_text():
            pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    run_page(page)
    plt.close("all")


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask.dataframe")
    with distributed.LocalCluster(processes=False, n_workers=2, threads_per_worker=1,
                                  dashboard_address=None) as cluster:
        yield cluster


@pytest.mark.parametrize("page", USES_A_CLUSTER, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run_on_a_cluster(page, cluster, tmp_path, monkeypatch):
    """Beside a table of four parquet files, of which `y` is a column."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("torch")
    plt = pytest.importorskip("matplotlib.pyplot")
    (tmp_path / "table").mkdir()
    rng = np.random.default_rng(0)
    for part in range(4):
        X = rng.standard_normal((200, 3))
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=X[:, 0] + 0.1 * X[:, 1])
        frame.to_parquet(tmp_path / "table" / f"{part}.parquet")
    monkeypatch.chdir(tmp_path)
    run_page(page, cluster.scheduler_address)["client"].close()
    plt.close("all")


@pytest.mark.parametrize("kind", ["BoostingRegressor", "BoostingClassifier", "ForestRegressor", "ForestClassifier"])
def test_the_settings_of_the_trees_of_ensembles_are_listed(kind):
    ensemble = getattr(fctree, f"Curvature{kind}")()
    ensemble.classes_ = np.arange(2)
    changed = ensemble._changed_defaults(Samples(np.zeros((600, 1)), np.zeros((1, 600)), None, None))
    default = {**ensemble._default_tree.get_params(), **changed}
    listed = fctree.CurvatureTreeRegressor().get_params()
    page = (ROOT / "docs" / "guide" / "ensembles.md").read_text()
    rows = re.findall(r"^\| (all|`Curvature\w+\*?`) \| (`.*) \|$", page, flags=re.M)
    assert len(rows) == 4
    for name, settings in rows:
        if name == "all" or type(ensemble).__name__.startswith(name.strip("`*")):
            listed |= {key: eval(value) for key, value in re.findall(r"`(\w+)=([\w.]+)`", settings)}
    assert listed == default
