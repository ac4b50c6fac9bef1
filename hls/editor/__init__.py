"""What an editor shows beside an OpenCL program: a language server (``server``), and the functions from a program's
text to data that it answers with, which know no editor."""
