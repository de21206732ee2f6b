"""Loads the plug-ins that tests/ and source/ share: the order of tests, the cache of proofs, notebooks from it."""

pytest_plugins = [
    "pytester",
    "tests.support.schedule",
    "tests.support.proof_cache",
    "tests.support.proven_notebooks",
]
