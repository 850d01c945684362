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
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
