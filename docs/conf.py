"""How the handbook is built: `sphinx-build -W docs docs/_build`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Bunraku"
author = "The Bunraku developers"
copyright = author
version = release = installed_version("bunraku")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docstrings",
    "mathml",
]
exclude_patterns = ["_build", "jupyter_execute"]
templates_path = []

html_theme = "furo"
html_title = "Bunraku"
html_static_path = ["_static"]
html_css_files = ["handbook.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Every number and every figure of the handbook is computed while it is built.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
ALIASES = ("Float32", "Float64", "Floats", "Int32", "Method", "Path", "Topology", "Interpolation")
autodoc_type_aliases = {name: name for name in (*ALIASES, "ArrayLike", "npt.ArrayLike")}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # the signature says them
