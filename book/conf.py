"""Configures Sphinx for the book."""

project = "The attention seminar"
author = "the attention seminar"
html_title = project
language = "en"
extensions = ["myst_nb", "book.extension"]
templates_path = ["templates"]
exclude_patterns = ["extra"]
html_extra_path: list[str] = []  # `python -m book` adds the folder with the pictures

nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # the default is on a foreign host
nb_render_text_lexer = nb_render_error_lexer = "none"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_heading_slug_func = "book.course.slug"
html_math_renderer = "mathml"

html_theme = "sphinx_book_theme"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_domain_indices = False
html_use_index = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    # The search field is in the sidebar: no bar above the page.
    "navbar_start": [],
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_navbar_depth": 1,
    "search_bar_text": "Search the book",
    "footer_content_items": [],
}
