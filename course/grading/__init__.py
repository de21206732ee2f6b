"""Judging submissions: one student's notebooks, or a class of them."""
