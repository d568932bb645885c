# SPDX-License-Identifier: Apache-2.0
"""How `make site` builds docs/ as a site.

Sphinx with MyST reads the pages as they are: it knows the same Markdown and makes the same
anchors as the places where people read them in the source tree. Its index for searching is a
script, so that a copy of the site on a disk can be searched, without a server. MkDocs reads
another dialect (a list needs an empty line before it), and its search needs a server. Both
are packages of Debian; alabaster comes with Sphinx. Nothing is loaded from other servers."""

project = "Sublet"
author = "the Sublet authors"
html_title = "Sublet"
root_doc = "index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["man", "site"]
# Sections as deep as `####` can be linked to.
myst_heading_anchors = 4
# Texts in the pages are shell scripts, configuration and tables: none is a language that
# Sphinx should guess.
highlight_language = "none"
# Texts are shown as they are typed: `--` is an option.
smartquotes = False
html_theme = "alabaster"
html_theme_options = {
    "description": "Leases of job slots between clusters",
    "fixed_sidebar": False,
    "page_width": "75rem",
    "sidebar_width": "17rem",
    "show_powered_by": False,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "localtoc.html", "navigation.html"]}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
