"""`python3 -m ramline_fleet`."""

import sys

from .main import main

sys.exit(main())
