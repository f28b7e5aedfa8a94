"""Primitives that hold Programs, one file a whole story: jit, conditionals, loops, custom rules, "
"checkpoint."""
