"""What each operation means: primitives with all their rules, a file a family."""
