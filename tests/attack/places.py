"""Every kind of place a document can be sent to: how it is made, what must hold after a run, and how it is undone.

A place is made in the folder of one case (`Case.box`); all that is made there for it is undone by what stands on `Case.undo`. What holds is a function that
gives the problems it finds, none when all is well. It is no runner: tests/attack/outputs makes the cases, runs them and counts. How places are made stands in
names.py and streams.py, what holds in holding.py.

    Place("a link to a file", link_to_file, replaced, refused)

is: made by `link_to_file`; a document sent there replaces the file it leads to; a tree sent there is refused.
"""

from dataclasses import dataclass

from holding import (
    NOBODY, REFUSED, ROOT, USAGE, alone, delivered, either, ended_well, full, gone_early, made, no_space, refused, refused_with, replaced, too_large,
    untouched_or_new,
)
from names import (
    closed, dead_link, directory_of_root, empty_directory, empty_file, empty_name, file_beside, file_of, file_of_root, full_directory, full_disk,
    hard_link, held_open, immutable, limited, link_loop, link_to_directory, link_to_file, long_name, mounted_over, name_of_escapes, named, new_beside,
    new_name, no_parent_tree, no_right, parent_is_file, read_meanwhile, read_only, relative, relative_link, slash_file, slash_new, sticky,
    strange_file, through_linked_directory, two_links,
)
from streams import (
    block, char, dash, dev_stdout, fifo, impatient_fifo, link_to_fifo, link_to_null, link_to_stdout, listening, not_listening, stdout_is_file,
    substitution, terminal, unread_fifo,
)


@dataclass
class Place:
    name: str
    make: object
    # For a document, and for a tree; none: this is not asked.
    holds: object
    tree: object = None
    # Who writes: None is everybody, NOBODY any ordinary user.
    uid: int | None = None
    # Made by root.
    privileged: bool = False
    # What holds for a hot set where that is something else.
    hot_set: object = None


PLACES = [
    # 1. Standard output.
    Place("'-'", dash, alone, refused),
    Place("/dev/stdout", dev_stdout, delivered),
    Place("a link to standard output", link_to_stdout, delivered),
    Place("a link to standard output that is a file", stdout_is_file, delivered),
    Place("a pipe as /dev/fd/N", substitution("/dev/fd/{}"), delivered),
    Place("a pipe as /proc/self/fd/N", substitution("/proc/self/fd/{}"), delivered, refused),
    # 2. What is no file: written through, and the node stays.
    Place("a device that takes everything (null)", char("null", 3), ended_well, refused, privileged=True),
    Place("a device that takes everything (zero)", char("zero", 5), ended_well, privileged=True),
    Place("a device that is full", char("full", 7), full, refused, privileged=True),
    Place("a link to a device", link_to_null, ended_well, refused, privileged=True),
    Place("a block device", block, delivered, refused, privileged=True),
    Place("a terminal", terminal, delivered, refused),
    Place("a FIFO with a reader", fifo, delivered),
    Place("a link to a FIFO with a reader", link_to_fifo, delivered),
    Place("a FIFO nobody reads", unread_fifo, refused, refused),
    Place("a FIFO whose reader goes", impatient_fifo, gone_early),
    Place("a socket with a server", listening, delivered),
    Place("a socket nobody listens on", not_listening, refused, refused),
    # 3. Regular files.
    Place("a new name", new_name, made, made),
    Place("a new name without a folder", relative, made, made),
    Place("a new name that is not UTF-8", named("new-\udcff\udcfe"), made, made),
    Place("a new name of 255 bytes", named("n" * 255), made, made),
    Place("a new name with escapes", named("new\x1b[31m\nx"), made, made),
    Place("a file of mode 0644", file_of(0o644), replaced, refused),
    Place("a file of mode 0600", file_of(0o600), replaced),
    Place("a file of mode 0640", file_of(0o640), replaced),
    Place("a file of mode 0444", file_of(0o444), either(replaced, refused)),
    Place("a file of mode 0600 of user 1234", file_of(0o600, 1234), replaced, uid=ROOT),
    Place("a file of mode 0640 of user 1234", file_of(0o640, 1234), replaced, uid=ROOT),
    Place("a file of mode 0444 of user 1234", file_of(0o444, 1234), replaced, refused, uid=ROOT),
    Place("an empty file", empty_file, replaced, refused, hot_set=refused_with(REFUSED)),
    Place("a file of something else", strange_file, None, refused, hot_set=refused_with(REFUSED)),
    Place("a file with two names", hard_link, replaced),
    Place("a file that somebody has open", held_open, replaced),
    Place("a file that somebody reads meanwhile", read_meanwhile, replaced),
    Place("a file beside somebody's own", file_beside, replaced),
    Place("a new name beside somebody's own", new_beside, made, made),
    # 4. Links to files.
    Place("a link to a file", link_to_file, replaced, refused),
    Place("a relative link to another directory", relative_link, replaced),
    Place("a link to a link to a file", two_links, replaced, refused),
    Place("a file in a linked directory", through_linked_directory, replaced),
    Place("a link of our own in a sticky directory", sticky(ROOT, ROOT), replaced, uid=ROOT),
    # 5. Refused.
    Place("an empty directory", empty_directory, refused, made),
    Place("a directory with something in it", full_directory, refused, refused_with(USAGE, REFUSED)),
    Place("a directory with escapes in its name", name_of_escapes, refused, refused_with(USAGE, REFUSED)),
    Place("a link to a directory", link_to_directory, refused),
    Place("a link that leads nowhere", dead_link, refused, refused),
    Place("a loop of links", link_loop, refused, refused),
    Place("a missing parent", no_parent_tree, refused, either(refused, ended_well)),
    Place("a parent that is a file", parent_is_file, refused, refused),
    Place("a name of 256 bytes", long_name, refused, refused),
    Place("a new name with a slash behind it", slash_new, refused),
    Place("a file with a slash behind it", slash_file, refused, refused),
    Place("the empty name", empty_name, refused, refused),
    Place("a new name on a read-only disk", read_only("new"), refused, refused, privileged=True),
    Place("a file on a read-only disk", read_only("old"), refused, refused, privileged=True),
    Place("a new name in a locked directory", no_right("new"), refused, refused, uid=NOBODY),
    Place("a file in a locked directory", no_right("old"), refused, uid=NOBODY),
    Place("a file in a directory of root", directory_of_root, refused, uid=NOBODY, privileged=True),
    Place("a file of root in a directory of one's own", file_of_root(0o644), refused, uid=NOBODY, privileged=True),
    Place("a file of root that all may write", file_of_root(0o666), refused, uid=NOBODY, privileged=True),
    Place("somebody's link in a sticky directory", sticky(NOBODY, ROOT), refused, uid=ROOT, privileged=True),
    Place("a file that cannot be changed (chattr +i)", immutable, refused, refused, privileged=True),
    Place("a file that is mounted over", mounted_over, refused, refused, privileged=True),
    # 6. No room.
    Place("a new name on a full disk", full_disk("new"), no_space, no_space, privileged=True),
    Place("a file on a full disk", full_disk("old"), no_space, privileged=True),
    *(Place(f"a new name under a limit of {n} KiB", limited("new", n), too_large, too_large) for n in (0, 1, 8)),
    *(Place(f"a file under a limit of {n} KiB", limited("old", n), too_large) for n in (0, 1, 8)),
    # 9. What the caller has closed does not become the file.
    Place("a file, with standard output closed", closed(1), untouched_or_new),
    Place("a file, with 0, 1 and 2 closed", closed(0, 1, 2), untouched_or_new),
]

# Of these a look at the running machine, which takes seconds, is made as well.
LIVE = {"'-'", "a new name", "an empty directory", "a missing parent", "a FIFO nobody reads", "a device that takes everything (null)"}
