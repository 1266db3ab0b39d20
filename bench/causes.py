"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tried: what was changed, and what came of it. Without one the page says "not known".
"""

CAUSES = {}
