"""A result of a proof is computed once in a run, and counts for exactly what it was computed from."""

from pathlib import Path

from tests.support.proof_cache import ProofCache, digest_of


def test_a_result_is_computed_once_for_all_workers(tmp_path: Path) -> None:
    """The second worker reads what the first one computed; another key is another result."""
    first, second = ProofCache(tmp_path), ProofCache(tmp_path)
    assert first.result("key", int, lambda: 7) == first.result("key", int, lambda: 8) == 7
    assert second.result("key", int, lambda: 8) == 7 and second.result("other", int, lambda: 8) == 8


def test_parts_of_a_key_do_not_run_together() -> None:
    """Each part counts with its length and its type."""
    assert len({digest_of("ab", "c"), digest_of("a", "bc"), digest_of("abc"), digest_of("ab", b"c")}) == 4
