"""JupyterLab as students get it: `custom/custom.css` is part of every page."""

from pathlib import Path

c = get_config()  # noqa: F821  (Jupyter provides it)
c.LabApp.custom_css = True
# No setting names the folder: Jupyter looks into the user's own one, which students may use for settings of theirs.
c.ServerApp.tornado_settings = {"static_custom_path": [str(Path(__file__).resolve().with_name("custom"))]}
