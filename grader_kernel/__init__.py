"""The rules that the kernel of a student's notebook and the processes of the grader share."""
