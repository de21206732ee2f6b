"""A new gradebook, as nbgrader would make it, without the program that nbgrader starts for it.

nbgrader asks the program `alembic` which version of its tables is the newest: that takes three seconds, and in an
environment that is not activated there is no such program. Here the library behind it is asked.
"""

from pathlib import Path

import nbgrader
from nbgrader.api import Base
from sqlalchemy import create_engine, inspect

MIGRATIONS = Path(nbgrader.__file__).parent / "alembic"


def make(url: str) -> None:
    """Makes the tables of the gradebook at `url`, with their version; leaves one that has tables as it is."""
    engine = create_engine(url)
    if not inspect(engine).get_table_names():
        from alembic.migration import MigrationContext  # slow to load, and most runs find a gradebook
        from alembic.script import ScriptDirectory

        with engine.begin() as connection:
            Base.metadata.create_all(connection)
            MigrationContext.configure(connection).stamp(ScriptDirectory(MIGRATIONS), "heads")
    engine.dispose()
