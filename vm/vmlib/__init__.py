"""What the commands in vm/ share. Not a library for anything else; Python 3.11 and its standard library only."""
