"""Loads the plug-ins that tests/ and source/ share: ports, order, the cache of proofs, notebooks from it."""

pytest_plugins = [
    "pytester",
    "tests.support.kernel_ports",
    "tests.support.schedule",
    "tests.support.proof_cache",
    "tests.support.proven_notebooks",
]
