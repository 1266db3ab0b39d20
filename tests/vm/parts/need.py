"""`need` and `need --try` on version 2, where memory.reclaim and pressure of groups take the place of limits and of the disk's time.

Example: answered(machine, "7.3")
"""

from harness import check, equal, near, note

MIB = 1 << 20
LIMIT, FILE, OTHER = 32 * MIB, 48 * MIB, 24 * MIB


def stat_of(seen, name):
    return {line.split()[0]: int(line.split()[1]) for line in seen.text(name).splitlines()}


def size_of(document):
    answer = (document or {}).get("answer")
    return answer.get("size") if isinstance(answer, dict) else None


def answered(machine, kernel):
    """A reader at random and a loop in less than their file, with what they need as the limit and with a tenth less; trials up and down; kills."""
    seen = machine.debian("need", "--kernel", kernel, BUDGET="900s")
    what = f"{seen.text('release').strip()}, lru_gen {seen.text('lru_gen').strip()}"
    for how in ("random", "loop"):
        watched(seen, f"{what}, {how}", how)
    kills = [line.split() for line in seen.text("kills").splitlines()]
    check(f"{what}: a trial has been killed while the limit was another", any(int(during) != LIMIT for _, during, _ in kills), kills)
    check(f"{what}: and the limit is back within a second", kills and all(int(after) == LIMIT for _, _, after in kills), kills)
    down(seen, what)


def watched(seen, what, how):
    document, stat = seen.json(f"{how}.out"), stat_of(seen, f"{how}.stat")
    if not check(f"{what}: an answer", document is not None, seen.said(how)):
        return
    # Of one read: memory.current is another, and between them a folio of 2 MiB comes or goes.
    whole, size = FILE + stat["anon"] + stat["kernel"], size_of(document)
    note(f"{what}: {document['answer']}, whole {whole / MIB:.1f} MiB, {document['curve']['pages_evicted']} evicted, {document['curve']['returns']} returned")
    if size:
        near(f"{what}: the size is that of the file and what the program has", size, whole, 0.05)
        at, below, now = (int(seen.text(f"{how}-{name}.refaults")) for name in ("at", "below", "now"))
        check(f"{what}: at that limit next to nothing is read again", at <= 0.03 * now, (at, below, now))
        check(f"{what}: a tenth less is too little", below > 0.03 * now, (at, below, now))
    else:
        check(f"{what}: or no more than was seen", "more_than" in document["answer"] and document["answer"]["more_than"][0] <= 1.05 * whole, document["answer"])
    tried = seen.json(f"{how}-try.out")
    if check(f"{what}: tried", tried is not None, seen.said(f"{how}-try")):
        near(f"{what}: tried, the size is that of the file and what the program has", size_of(tried) or 0, whole, 0.05)
    equal(f"{what}: the limit is back", seen.text(f"{how}.max").strip(), str(LIMIT))


def down(seen, what):
    document, stat, current = seen.json("down.out"), stat_of(seen, "down.stat"), int(seen.text("down.current"))
    if not check(f"{what}: tried with less", document is not None, seen.said("down")):
        return
    # Of its group's pages those of the second file are not used.
    whole = FILE + stat["anon"] + stat["kernel"]
    note(f"{what}: down from {current / MIB:.1f} MiB: {document['answer']}, {document['trial']['end']}, needs {whole / MIB:.1f} MiB")
    near(f"{what}: the size is without the file that is not used", size_of(document) or 0, whole, 0.07)
    check(f"{what}: by the kernel's own measure of time lost", document["trial"]["time_lost_by"] == "group_pressure", document["trial"])
    equal(f"{what}: its limit was not touched", seen.text("down.max").strip(), str(256 * MIB))
