"""Names of containers and pods of real engines: Podman's and containerd's of Debian 13, right after a rename and a removal too.

Example: named(machine)
"""

from harness import check, equal, note

PACKAGES = "podman,crun,containerd,busybox-static"


def names(seen, step):
    """What the engines call the containers whose groups are listed; None where the step failed."""
    document = seen.json(f"{step}.out")
    if not check(f"{step}: the groups are listed", document is not None, seen.said(step)):
        return None
    found = [group.get("container") or {} for group in document["shown"]["groups"]]
    return {"/".join(one[part] for part in ("namespace", "pod", "name") if one.get(part)) for one in found if one.get("id")}


def named(machine):
    """Two containers of each engine and a pod, as root and as nobody."""
    seen = machine.debian("containers", "--with", PACKAGES)
    note(f"{seen.text('podman-version.out').strip()}; {seen.text('containerd-version.out').strip()}")
    for made in ("podman-web", "podman-store", "podman-pod", "podman-in-pod", "ctr-cart", "ctr-mail", "ctr-pod"):
        if not check(f"{made} runs", seen.status(made) == 0, seen.said(made)):
            return
    found = names(seen, "all")
    check("Podman's have their names, in a pod too; one of Kubernetes has its pod and name space", {"web", "store", "till", "prod/orders-7d9/api"} <= found, found)
    check("and nothing else is named", found <= {"web", "store", "till", "prod/orders-7d9/api", "prod/orders-7d9"}, found)
    narrow, wide = seen.text("text.out"), seen.text("wide.out")
    check("a screen has the names", all(name in narrow for name in ("podman web", "podman store", "podman till", "cart", "mail", "api")), narrow)
    check("a wide one has the pod and its name space too", "kubernetes prod/orders-7d9/api" in wide, wide)
    check("a container is found by its name", seen.status("one") == 0 and "(podman" in seen.text("one.out"), seen.said("one"))
    check("metrics have them", 'container="web"' in seen.text("metrics.out") and 'namespace="prod"' in seen.text("metrics.out"), seen.text("metrics.out")[-1500:])
    cached = (seen.json("cache-top.out") or {}).get("groups", [])
    check("files that containers use are theirs in the page cache, though their layers hold them", {"web", "store", "till"} <= {group.get("container") for group in cached}, [(group.get("name"), group.get("container")) for group in cached])
    equal("a user who may not read the engines' files sees ids", names(seen, "user"), set())
    equal("after a rename and a removal", names(seen, "after") & {"web", "store", "depot", "till"}, {"depot", "till"})
    groups = lambda step: {group["path"].rsplit("/", 1)[-1] for group in (seen.json(f"{step}.out") or {"shown": {"groups": []}})["shown"]["groups"]}
    equal("one of containerd that was removed has no group", groups("after") & {"cart", "mail"}, {"cart"})
    equal("and when all are gone none is named", names(seen, "none"), set())
