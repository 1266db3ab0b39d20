# Front doors. `make checkup` and `make test` do all the set-up they need.

CARGO ?= cargo
# Static: one file that needs no library of the machine, nor of the guests of `lab --sandbox vm`, and starts with less memory.
# `--target` keeps the flag away from build scripts.
TARGET := $(shell uname -m)-unknown-linux-gnu
BIN := target/$(TARGET)/release/ramline
# Where the tests, the benchmarks and `make install` look for it, whatever the shell or a file of the user's says.
export CARGO_TARGET_DIR := $(CURDIR)/target
# Relocations in their short form, half a MiB less to read at each start: known to C libraries since 2.36.
RELR := $(shell printf '2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -CV && echo -C link-arg=-Wl,-z,pack-relative-relocs)
STATIC = RUSTFLAGS="-C target-feature=+crt-static $(RELR) $(1)" $(CARGO) build --locked --target $(TARGET)
COMMA := ,
RELEASE := $(call STATIC) --release

.PHONY: checkup build dist package book install examples fleet fleet-lint fleet-spark python python-lint test test-long bench lint clean

checkup: build
	$(BIN) checkup --html report.html --json report.json

build:
	$(RELEASE) -p ramline-cli

# For packages: half the size, three times the time to build. Functions of the same code become one, messages name no folder of the builder, and C
# code, through which nothing unwinds, has no tables for that.
DIST := target/$(TARGET)/dist/ramline
CRATES = $$(ls -d "$${CARGO_HOME:-$$HOME/.cargo}"/registry/src/* | sed 's|.*|--remap-path-prefix=&=crates|' | tr '\n' ' ')
dist: export CFLAGS += -fno-asynchronous-unwind-tables
dist:
	$(CARGO) fetch --locked --quiet
	$(call STATIC,-C link-arg=-Wl$(COMMA)--icf=all$(COMMA)-O2 $(CRATES)) --profile dist -p ramline-cli

# .deb, .rpm, static tarball, SBOM, container image and checksums, in target/packages; packaging/README.md says what is in them.
package: dist
	packaging/build

# The pages of docs/ with a reference that the program writes, as a site in target/book; needs mdbook.
book: build
	packaging/book --binary $(BIN)

# Builds nothing: root may have no toolchain. What `make dist` has built, unless a source is newer; else what `make build` has.
PREFIX ?= /usr/local
# As one word of the shell each, whatever is in them.
quoted = '$(subst ','\'',$(1))'
SHARE = $(call quoted,$(DESTDIR)$(PREFIX)/share)
BUILT = $(shell test -x $(DIST) && test -z "$$(find Cargo.* crates docs schema -newer $(DIST) -type f | head -n 1)" && echo $(DIST) || echo $(BIN))
install:
	@test -x $(BUILT) || { echo "install: $(BUILT) is not built yet; try: make checkup" >&2; exit 1; }
	install -D -m 755 $(BUILT) $(call quoted,$(DESTDIR)$(PREFIX)/bin/ramline)
	umask 022 && $(BUILT) generate man $(SHARE)/man/man1 && $(BUILT) generate completions $(SHARE)

examples:
	$(RELEASE) -p ramline-pagecache --examples

# Many hosts are asked by a program in Python with an engine of its own; `ramline fleet` finds it here.
FLEET := target/fleet
fleet:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo 'make fleet needs Python 3.11 or later; try: apt install python3 python3-venv' >&2; exit 1; }
	python3 -m venv $(FLEET)
	$(FLEET)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement fleet/requirements.lock
	$(FLEET)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps ./fleet
# A cluster as well: 430 MB more, and Java 17.
fleet-spark:
	python3 -m venv $(FLEET)
	$(FLEET)/bin/python -m pip install --quiet --disable-pip-version-check './fleet[spark]'

test:
	tests/run

test-long:
	tests/run --long

bench: build
	bench/run

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy -p ramline-cli --locked -- -D warnings

# Of the package in Python, with tools of its own beside it.
fleet-lint: fleet
	python3 -m venv target/fleet-lint
	target/fleet-lint/bin/python -m pip install --quiet --disable-pip-version-check 'mypy==2.4.*' 'ruff==0.17.*'
	target/fleet-lint/bin/mypy --config-file fleet/pyproject.toml --python-executable $(FLEET)/bin/python fleet/ramline_fleet
	target/fleet-lint/bin/ruff check --config fleet/pyproject.toml fleet/ramline_fleet fleet/over_days.py fleet/over_time.py fleet/servers_asked.py fleet/given_tables.py

# The package for notebooks, with what its notebooks need, apart from the machine's own Python.
PYTHON := target/python/bin
python:
	python3 -m venv target/python
	$(PYTHON)/python -m pip install --quiet --disable-pip-version-check './python[arrow]'
	rm -rf python/build python/ramline.egg-info
python-lint: python
	$(PYTHON)/python -m pip install --quiet --disable-pip-version-check 'mypy==2.4.*' 'ruff==0.17.*' 'pandas-stubs<4'
	$(PYTHON)/mypy --config-file python/pyproject.toml --cache-dir target/python/mypy python/ramline
	$(PYTHON)/ruff check --config python/pyproject.toml --no-cache python

clean:
	$(CARGO) clean
