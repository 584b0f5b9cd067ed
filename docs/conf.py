"""How the documentation is built: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Every cell and every command on the pages runs during the build, so no output can be stale, and
an error in one of them fails the build. Nothing is downloaded.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import symgrad

project = "symgrad"
author = "the symgrad developers"
project_copyright = "the symgrad developers, MIT licence"
version = release = symgrad.__version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "catalogue",
    "captured",
]
exclude_patterns = ["_build", "_extensions"]

# ------------------------------------------------------------------ pages
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # a cache would not notice that the library has changed
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_execution_show_tb = True
nb_mime_priority_overrides = [("html", "text/plain", 0)]  # the mathematics in Unicode, as the library prints it

# ------------------------------------------------------------------ reference
default_role = "code"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"  # classes that nobody constructs show no constructor
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_google_docstring = False
napoleon_use_param = False  # parameters that share a line keep sharing it
napoleon_use_rtype = False
napoleon_use_ivar = True

# ------------------------------------------------------------------ looks
html_theme = "furo"
html_title = "symgrad"
html_static_path = ["_static"]
html_css_files = ["symgrad.css"]
html_copy_source = False
html_show_sphinx = False


def everything_is_outdated(app, env, added, changed, removed):
    """Reads every page again in every build, as the outputs on it depend on the library."""
    return env.found_docs


def setup(app):
    """Called by Sphinx."""
    app.connect("env-get-outdated", everything_is_outdated)
