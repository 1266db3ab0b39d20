"""The kinds of package: a name, and the function that builds it into a directory and returns the file's path."""

from .archive import tarball
from .deb import deb
from .image import image
from .rpm import rpm
from .sbom import sbom
from .wheel import fleet, notebooks

KINDS = {"deb": deb, "rpm": rpm, "tar": tarball, "sbom": sbom, "image": image, "wheel": fleet, "notebooks": notebooks}

__all__ = ["KINDS"]
