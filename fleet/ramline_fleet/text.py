"""The report in words, for a terminal."""


def size(kib):
    """In the units of the study: 1 MB is 1000 KB."""
    if kib is None:
        return "unknown"
    for unit, name in ((1_000_000, "GB"), (1_000, "MB")):
        if kib >= unit:
            value = kib / unit
            return f"{value:.0f} {name}" if value >= 100 else f"{value:.3g} {name}"
    return f"{kib:.0f} KB"


def percent(of):
    if of["share"] is None:
        return "unknown"
    return f"{of['share']:.1%} ({of['low']:.1%} to {of['high']:.1%})"


def of(document):
    """The answer first: who would fit."""
    models = {model["name"]: model for model in document["models"]}
    best = models["free_and_swap"]
    hosts = document["hosts"]
    lines = ["These hosts are made up." if document["synthetic"] else None,
             f"/tmp would fit into free memory and free swap on {best['fits']['hosts']} of {hosts} hosts: {percent(best['fits'])}; "
             f"it would not on {best['fails']['hosts']}" + (f", and of {best['unknown']} it is not known." if best["unknown"] else "."), "",
             f"{'would it fit? /tmp is at most':34} {'yes':>5} {'no':>5} {'unknown':>8}  share of those known (95 % interval)"]
    for model in models.values():
        lines.append(f"{model['name'].replace('_', ' '):34} {model['fits']['hosts']:5} {model['fails']['hosts']:5} {model['unknown']:8}  {percent(model['fits'])}")
    lines += ["", f"{'':16} {'hosts':>6} {'min':>9} {'max':>9} {'mean':>9} {'median':>9} {'mode':>9}"]
    for one in document["variables"]:
        plain = one["name"] == "tmp_inodes"
        cells = [f"{one[key]:.0f}" if plain and one[key] is not None else size(one[key]) for key in ("min", "max", "mean", "median", "mode")]
        lines.append(f"{one['name'].removesuffix('_kib').replace('_', ' '):16} {one['hosts']:6} " + " ".join(f"{cell:>9}" for cell in cells))
    lines.append(f"{document['without_swap']} hosts have no swap; the row of swap total is of the others.")
    lines += ["", "shares"]
    for one in document["shares"]:
        lines.append(f"  {one['variable'].removesuffix('_kib').replace('_', ' ')} {one['side']} {size(one['threshold'])}: {one['hosts']} of {one['of']}, {percent(one)}")
    lines += ["", "on by default where there is more RAM than"]
    for rule in document["rules"]:
        lines.append(f"  {size(rule['more_than_kib'])}: on for {percent(rule['on'])}; of these {rule['fails']['hosts']} have more in /tmp than half of it")
    if document["breaks"]:
        lines += ["", "hosts it would break, and what they lack"]
        lines += [f"  {one['host']}: {size(one['tmp_kib'])} in /tmp, {size(one['lacks_kib'])} more than is free" for one in document["breaks"][:20]]
    lines += ["", f"Hosts without one that breaks that it takes to say \"fewer than one in a thousand\": {document['clean_hosts_for_one_in_a_thousand']}.", "What it does not say:"]
    lines += [f"  - {caveat}" for caveat in document["caveats"]]
    return "\n".join(line for line in lines if line is not None)
