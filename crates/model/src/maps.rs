//! Mapped files: what of them is in RAM, who shares it, which are copies of each other.
