"""Documents that ramline wrote: snapshots, reports, and the records of a series."""

import os
import shutil

import hostile
from kind import NODES, Kind, node, write
from runner import Case


class Snapshots(Kind):
    """Files of `ramline snapshot`."""

    seldom = [f"node-{kind}" for kind in NODES] + ["deep", "long", "wrong"]

    def make(self, rng, ordinal):
        path = f"{self.place.run}/snapshot.json"
        what = self.choose(rng, ordinal)
        text = rng.choice(self.bases["snapshots"])
        match what:
            case None if rng.random() < 0.05:
                what = "bytes"
                write(path, hostile.flip(rng, text.encode()))
            case None:
                data, what = hostile.mutate_json(rng, text)
                write(path, data)
            case "deep":
                write(path, rng.choice([b"[", b'{"a":']) * 1_000_000)
            case "long":
                write(path, b'{"schema_version":"' + b"a" * (40 << 20) + b'"}')
            case "wrong":
                write(path, rng.choice([b"", b"null", b"[]", b"{}", b"\0", b"\xff", b"1", b'"x"', b"{} {}"]))
            case _:
                node(path, what.removeprefix("node-"))
        words, html = self.source(rng, "--snapshot", path)
        return Case(words, what, [path], html=html)


class Reports(Kind):
    """Old reports for `checkup --compare`."""

    seldom = [f"node-{kind}" for kind in NODES]

    def prepare(self):
        self.now = f"{self.place.base}/now.json"
        write(self.now, self.bases["snapshots"][0].encode())

    def make(self, rng, ordinal):
        path = f"{self.place.run}/old.json"
        what = self.choose(rng, ordinal)
        text = rng.choice(self.bases["reports"])
        if what:
            node(path, what.removeprefix("node-"))
        elif rng.random() < 0.05:
            what = "bytes"
            write(path, hostile.flip(rng, text.encode()))
        else:
            data, what = hostile.mutate_json(rng, text)
            write(path, data)
        out = f"{self.place.run}/out.html"
        more, html = rng.choice([([], ""), ([], ""), (["--json", "-"], ""), (["--html", out], out), (["--exit-code"], "")])
        return Case(["checkup", "--quick", "--snapshot", self.now, "--compare", path, *more], what, [path, self.now], html=html)


class Series(Kind):
    """Folders of the raw records of a series."""

    seldom = [f"node-{kind}@{where}" for kind in NODES for where in ("series.json", "0001.json", "folder")] + ["many-records", "long-record"]

    def make(self, rng, ordinal):
        run = self.place.run
        what = self.choose(rng, ordinal)
        base = rng.choice(self.bases["series"])
        other = rng.choice(self.bases["series"]) if rng.random() < 0.3 else base
        done = []
        for name, files in (("a", base), ("b", other)):
            os.mkdir(f"{run}/{name}")
            for file, text in files.items():
                write(f"{run}/{name}/{file}", text.encode())
        records = [file for file in base if file != "series.json"]
        if what is None:
            group = rng.random() < 0.3
            state = rng.getrandbits(32)
            for file in rng.sample(records, min(len(records), 30)) if group else [rng.choice(list(base)) for _ in range(rng.choice([1, 1, 2, 4]))]:
                if group:
                    # The same change in all records, so that what sums them up meets it.
                    rng.seed(state)
                data, how = hostile.mutate_json(rng, base[file])
                if rng.random() < 0.05:
                    data, how = hostile.flip(rng, data), "bytes"
                write(f"{run}/a/{file}", data)
                done.append(how)
            if rng.random() < 0.08:
                name = rng.choice([b"\x1b[31m.json", b"9999.json", b"00001.json", b"18446744073709551616.json", b"-1.json", b"0001.json.json", b"\xff.json", b".json"])
                write(os.fsencode(run) + b"/a/" + name, rng.choice(list(base.values())).encode())
                done.append("name")
            if rng.random() < 0.05:
                os.unlink(f"{run}/a/{rng.choice(list(base))}") if os.listdir(f"{run}/a") else None
                done.append("gone")
            what = "+".join(sorted(set(done)))[:60]
        elif what == "many-records":
            for number in range(3000):
                write(f"{run}/a/{number:04}.json", base[records[0]].encode())
        elif what == "long-record":
            write(f"{run}/a/{records[0]}", b'{"format":1,"experiment":"' + b"a" * (20 << 20) + b'"}')
        else:
            kind, where = what.removeprefix("node-").split("@")
            path = f"{run}/a" if where == "folder" else f"{run}/a/{where}"
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)
            node(path, kind)
        out = f"{run}/out.html"
        folder = f"{run}/a"
        words, html = rng.choice([(["report", folder], ""), (["report", folder, "--json"], ""), (["report", folder, "--csv"], ""),
                                  (["report", folder, "--html", out], out), (["compare", folder, f"{run}/b"], ""), (["compare", f"{run}/b", folder], ""),
                                  (["compare", folder, f"{run}/b", "--json"], ""), (["compare", folder, folder, "--html", out], out),
                                  (["compare", f"{run}/b", folder, "--html", out], out), (["resume", folder, "--help"], "")])
        return Case(["lab", *words], what, [folder, f"{run}/b"], html=html)
