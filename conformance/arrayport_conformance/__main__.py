"""`python -m arrayport_conformance` is the command `arrayport`."""

from __future__ import annotations

import sys

from arrayport_conformance.cli import main

sys.exit(main())
