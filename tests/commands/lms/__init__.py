"""Shows that students, submissions and grades come in from Canvas and Moodle unharmed, and go back as they are."""
