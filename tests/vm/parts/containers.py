"""Names of containers and pods of real engines: Podman's and containerd's of Debian 13, right after a rename and a removal too.

Example: named(machine)
"""

from harness import check, equal, note

PACKAGES = "podman,crun,containerd,busybox-static"


def owners(seen, name):
    """Names of groups by the kind of their owner; `None` where the step failed."""
    document = seen.json(f"{name}.out")
    if not check(f"{name}: the groups are listed", document is not None, seen.said(name)):
        return None
    out = {}
    for group in document["shown"]["groups"]:
        owner = group.get("owner") or {}
        out.setdefault(owner.get("kind", ""), set()).add(owner.get("name", ""))
    return out


def named(machine):
    """Two containers of each engine and a pod, as root and as nobody."""
    seen = machine.debian("containers", "--with", PACKAGES)
    note(f"{seen.text('podman-version.out').strip()}; {seen.text('containerd-version.out').strip()}")
    for made in ("podman-web", "podman-store", "podman-pod", "podman-in-pod", "ctr-cart", "ctr-mail", "ctr-pod"):
        if not check(f"{made} runs", seen.status(made) == 0, seen.said(made)):
            return
    everything = owners(seen, "all")
    note(str(everything))
    equal("Podman's have their names, that of a pod too", everything.get("podman", set()), {"web", "store", "till"})
    equal("containerd's are their own names, and the pod's container has pod and name space", everything.get("containerd", set()) | everything.get("kubernetes", set()), {"cart", "mail", "prod/orders-7d9/api"})
    told = seen.text("text.out")
    check("a screen has the names", all(name in told for name in ("web", "store", "till", "cart", "mail", "api")), told)
    check("a container is found by its name", seen.status("one") == 0 and "web" in seen.text("one.out"), seen.said("one"))
    check("metrics have them", 'name="web"' in seen.text("metrics.out") or "web" in seen.text("metrics.out"), seen.text("metrics.out")[:3000])
    user = owners(seen, "user")
    names = set().union(*user.values())
    check("a user who may not read the engines' files sees ids and no wrong name", not names & {"depot"}, user)
    after = owners(seen, "after")
    equal("after a rename and a removal", after.get("podman", set()), {"depot", "till"})
    equal("one that was removed has no group", after.get("containerd", set()) & {"cart", "mail"}, {"cart"})
    gone = owners(seen, "none")
    equal("and when all are gone none is named", gone.get("podman", set()) | gone.get("containerd", set()) | gone.get("kubernetes", set()), set())
