"""Moves students, submissions and grades between a course folder and a learning platform."""
