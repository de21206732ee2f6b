"""What both worlds of an exercise use: the kernel of a student's notebook, and the processes of the grader."""
