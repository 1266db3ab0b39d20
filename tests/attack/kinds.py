"""What is attacked: each kind makes one mutated input and one command that reads it, and cleans up after it.

All inputs lie below the worker's own folder. Names in them point below it too, or nowhere: never at nodes of /dev or at processes that exist.
"""

from arguments import Arguments
from captured import Trees
from documents import Reports, Series, Snapshots
from hotsets import HotSet, Lists
from journals import Journals

KINDS = {"hotset": (HotSet, 4), "snapshot": (Snapshots, 3), "tree": (Trees, 6), "journal": (Journals, 2), "series": (Series, 3), "arguments": (Arguments, 3),
         "lists": (Lists, 1), "reports": (Reports, 2)}
