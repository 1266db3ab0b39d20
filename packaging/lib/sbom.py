"""The bill of materials: CycloneDX 1.5 as JSON, from Cargo.lock as cargo resolves it for the target.

Written here because cargo's plug-ins for it put the time and a random number into every document, so that no two builds are equal. Its number is
made from the content, and its time is the build's.
"""

import hashlib
import json
import time
import tomllib
import uuid

from .cargo import crates
from .release import LICENCE, SUMMARY


def sbom(release, out):
    """ramline-VERSION.cdx.json."""
    packages, needs = crates(release)
    with open(release.top / "Cargo.lock", "rb") as file:
        sums = {(row["name"], row["version"]): row.get("checksum") for row in tomllib.load(file)["package"]}
    reference = {package["id"]: f"pkg:cargo/{package['name']}@{package['version']}" for package in packages}

    def component(package):
        entry = {"type": "library", "bom-ref": reference[package["id"]], "name": package["name"], "version": package["version"]}
        checksum = sums.get((package["name"], package["version"]))
        if checksum:
            entry |= {"purl": reference[package["id"]], "hashes": [{"alg": "SHA-256", "content": checksum}]}
        # Old crates separate two licences by a slash.
        entry["licenses"] = [{"expression": (package["license"] or "").replace("/", " OR ")}]
        return entry

    program = f"pkg:generic/ramline@{release.version}"
    binary = hashlib.sha256(release.binary.read_bytes()).hexdigest()
    cli = next(package["id"] for package in packages if package["name"] == "ramline-cli")
    depends = [{"ref": program, "dependsOn": [reference[cli]]}]
    depends += [{"ref": reference[package["id"]], "dependsOn": [reference[id] for id in needs[package["id"]]]} for package in packages]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.date)),
            "component": {
                "type": "application", "bom-ref": program, "name": "ramline", "version": release.version, "description": SUMMARY,
                "licenses": [{"expression": LICENCE}], "hashes": [{"alg": "SHA-256", "content": binary}],
            },
        },
        "components": [component(package) for package in packages],
        "dependencies": depends,
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{number}"} | document
    path = out / f"ramline-{release.version}.cdx.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path
