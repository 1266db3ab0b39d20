"""The parts of tests/vm/run, one module for each kind of guest."""
