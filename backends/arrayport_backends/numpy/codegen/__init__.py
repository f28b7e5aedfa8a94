"""Machine code for nests of loops: what lies between a schedule and LLVM's text."""
