"""Settings of the site: the Markdown pages, an API reference, and the gallery of examples."""

import inspect
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).resolve().parent
GENERATED = DOCS / "generated"
sys.path.insert(0, str(DOCS))
# Threads of the examples: one, so that pictures are the same on every machine.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import fctree  # noqa: E402
from reference import write_reference  # noqa: E402

project = "fctree"
author = copyright = "the fctree developers"
version = release = fctree.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["templates"]
exclude_patterns = ["_build", "static", "figures", "templates", "**/GALLERY_HEADER.rst"]
myst_heading_anchors = 4

# Reference. PyTorch, which one module needs, is stood in for where it is missing.
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]
autodoc_typehints = "none"  # docstrings have them
maximum_signature_line_length = 88
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# Gallery.
os.environ.setdefault("MPLBACKEND", "agg")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!plot_)",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("fctree",),
    "download_all_examples": False,
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "within_subsection_order": "ExampleTitleSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = f"fctree {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": html_title},
    "navbar_persistent": ["search-button"],
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# The list of versions needs the address of the site, which .ci/site is told.
SITE = os.environ.get("FCTREE_DOCS_URL", "")
if SITE:
    html_theme_options |= {
        "navbar_start": ["navbar-logo", "version-switcher"],
        "switcher": {"json_url": f"{SITE}/versions.json",
                     "version_match": os.environ["FCTREE_DOCS_VERSION"]},
        "check_switcher": False,  # it is written after the pages
    }
html_sidebars = {"index": [], "generated/changelog": []}

# Pages that list others.
LISTS = ["index", "guide/index", "algorithms/index", "results/index", "development"]
ITEM = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\)", flags=re.M)


def translate_links(text):
    """Links to what is a page of the site though it lies outside of docs/ in the repository."""
    text = re.sub(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)", r"](/generated/gallery/\1.rst)", text)
    text = re.sub(r"\]\((?:\.\./)+examples/?\)", "](/generated/gallery/index.rst)", text)
    text = re.sub(r"\]\((?:\.\./)*reference\.py\)", "](/generated/reference.rst)", text)
    return re.sub(r"\]\((?:\.\./)+CHANGELOG\.md\)", "](/generated/changelog.md)", text)


def read_source(app, docname, source):
    """Adds the navigation to pages of links, so that one list serves the repository and the site."""
    text = translate_links(source[0])
    if docname in LISTS:
        entries = [re.sub(r"\.(md|rst)$", "", entry) for entry in ITEM.findall(text)]
        text += "\n".join(["\n```{toctree}", ":hidden:", "", *entries, "```\n"])
    source[0] = text


def drop_foreign_labels(app, what, name, obj, options, lines):
    """Unlinks what inherited docstrings refer to in the pages of their own project."""
    lines[:] = [re.sub(r":ref:`([^<`]+?) <[^`]+>`", r"\1", line) for line in lines]


def constructor_signature(app, what, name, obj, options, signature, returns):
    """The parameters of ``__init__`` where a stand-in for a base class hides them."""
    if what == "class" and signature.startswith("(*args"):
        parameters = [*inspect.signature(obj.__init__).parameters.values()][1:]
        shown = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
        signature = str(inspect.Signature(shown))
    return signature, returns


def write_changelog():
    """Copies the changelog, whose links start in the root of the repository, to the pages."""
    text = (DOCS.parent / "CHANGELOG.md").read_text()
    GENERATED.joinpath("changelog.md").write_text(text.replace("](docs/", "](../"))


def setup(app):
    GENERATED.mkdir(exist_ok=True)
    write_changelog()
    write_reference(GENERATED / "reference.rst")
    app.connect("source-read", read_source)
    app.connect("autodoc-process-docstring", drop_foreign_labels)
    app.connect("autodoc-process-signature", constructor_signature)
