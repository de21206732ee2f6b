"""Attacks on the grader: what each tries, and the class run that shows that it fails."""
