"""Shows that attacks on the grader fail: each is a submission, and a class run grades them all."""
