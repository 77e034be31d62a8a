"""How Sphinx makes the site: ``make docs`` writes build/docs.

Pages are Markdown (MyST). The tutorials are notebooks, run while the site is made, and show the
pictures of this version. The reference comes from the docstrings.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyspec

project = "pyspec"
author = "The pyspec developers"
version = release = pyspec.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Fits of spectra over energy, and over energy and time",
    "fixed_sidebar": True,
    "page_width": "1100px",
}
html_show_copyright = False
html_show_sourcelink = False

myst_heading_anchors = 3  # links to headings work as on the repository page
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True

autodoc_typehints = "none"  # docstrings say what a parameter is and means
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_attr_annotations = False  # numpy.ndarray[tuple[Any, …], numpy.dtype[numpy.float64]]
# As lists: members have entries of their own, and "a, b" would be read as a type and a name.
napoleon_custom_sections = [("Fields", "params_style"), ("Attributes", "params_style")]

#: Sections with lines "name : text".
LISTS = {"Parameters", "Attributes", "Fields"}


def contents(text):
    """The tables of contents of the index: its links, under the heading where they stand."""
    parts = []
    for section in re.split(r"^## ", text, flags=re.M):
        pages = re.findall(r"\]\(([^)#:]+)\.(?:md|ipynb)\)", section)
        caption = section.partition("\n")[0].strip()
        if pages:
            parts += ["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]
    return "\n".join(parts)


def add_contents(app, name, source):
    """The index of the repository gets its tables of contents on the site alone."""
    if name == "index":
        source[0] += "\n" + contents(source[0])


def prepare_docstring(app, what, name, thing, options, lines):
    """Docstrings as napoleon expects them.

    "name : text" becomes a name with the text as its description, since the types stand in the
    signature. A paragraph behind such a list becomes a section of its own.
    """
    section, made = "", []
    for number, line in enumerate(lines):
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        is_heading = bool(following) and not following.strip("-")
        if is_heading:
            section = line.strip()
        entry = re.fullmatch(r"(\S[^:]*?) : (.*)", line) if section in LISTS else None
        if entry:
            made += [entry[1], f"    {entry[2]}"]
            continue
        apart = number and not lines[number - 1].strip() and line[:1].strip()
        if apart and section in LISTS and not is_heading:
            section = "Notes"
            made += ["Notes", "-----"]
        made.append(line)
    lines[:] = made


def hide_private(app, what, name, thing, options, signature, returns):
    """No signature for what fits alone make, of parts that are nobody else's."""
    if what == "class" and signature and re.search(r"\b_\w+[:=,)]", signature):
        return "", returns
    return None


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=100)
    app.connect("autodoc-process-signature", hide_private)
