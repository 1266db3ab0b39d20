"""The container image: the program alone, as an OCI layout in one tar file, which podman, skopeo and docker load. No engine builds it, so that it
is the same everywhere; packaging/container/Containerfile is the same image for who builds with an engine."""

import hashlib
import json
import time

from .cargo import licences
from .release import LICENCE, SUMMARY, gzipped, tar

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "ppc64le": "ppc64le", "s390x": "s390x", "riscv64": "riscv64"}
INDEX, MANIFEST, CONFIG, LAYER = (f"application/vnd.oci.image.{kind}" for kind in ("index.v1+json", "manifest.v1+json", "config.v1+json", "layer.v1.tar+gzip"))


def image(release, out):
    """ramline-VERSION-ARCH.oci.tar."""
    layer = tar(
        [
            ("usr", None, 0o755),
            ("usr/bin", None, 0o755),
            ("usr/bin/ramline", release.binary.read_bytes(), 0o755),
            ("usr/share", None, 0o755),
            ("usr/share/doc", None, 0o755),
            ("usr/share/doc/ramline", None, 0o755),
            ("usr/share/doc/ramline/THIRD-PARTY-LICENSES", licences(release).encode(), 0o644),
            ("var", None, 0o755),
            ("var/lib", None, 0o755),
            ("var/lib/ramline", None, 0o700),
        ],
        release.date,
    )
    packed = gzipped(layer, release.level)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.date))
    labels = {"org.opencontainers.image.title": "ramline", "org.opencontainers.image.version": release.version,
              "org.opencontainers.image.description": SUMMARY, "org.opencontainers.image.licenses": LICENCE}
    config = text({
        "created": created,
        "architecture": ARCHITECTURES[release.machine],
        "os": "linux",
        "config": {"Entrypoint": ["/usr/bin/ramline"], "WorkingDir": "/", "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/build"}],
    })
    manifest = text({"schemaVersion": 2, "mediaType": MANIFEST, "config": described(CONFIG, config), "layers": [described(LAYER, packed)], "annotations": labels})
    name = {"org.opencontainers.image.ref.name": f"ramline:{release.version}"}
    index = text({"schemaVersion": 2, "mediaType": INDEX, "manifests": [described(MANIFEST, manifest) | {"annotations": name}]})
    blobs = sorted((hashlib.sha256(blob).hexdigest(), blob) for blob in (packed, config, manifest))
    entries = [("blobs", None, 0o755), ("blobs/sha256", None, 0o755), *((f"blobs/sha256/{digest}", blob, 0o644) for digest, blob in blobs),
               ("index.json", index, 0o644), ("oci-layout", text({"imageLayoutVersion": "1.0.0"}), 0o644)]
    path = out / f"ramline-{release.version}-{release.machine}.oci.tar"
    path.write_bytes(tar(entries, release.date))
    return path


def text(document):
    """JSON as bytes, the same each time."""
    return json.dumps(document, separators=(",", ":")).encode()


def described(kind, blob):
    """How one blob refers to another."""
    return {"mediaType": kind, "digest": f"sha256:{hashlib.sha256(blob).hexdigest()}", "size": len(blob)}
