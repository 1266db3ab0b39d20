# Front doors. `make checkup` and `make test` do all the set-up they need.

CARGO ?= cargo
# Static: one file that needs no library of the machine, nor of the guests of `lab --sandbox vm`, and starts with less memory.
# `--target` keeps the flag away from build scripts.
TARGET := $(shell uname -m)-unknown-linux-gnu
BIN := target/$(TARGET)/release/ramline
# Relocations in their short form, half a MiB less to read at each start: known to C libraries since 2.36.
RELR := $(shell printf '2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -CV && echo -C link-arg=-Wl,-z,pack-relative-relocs)
RELEASE := RUSTFLAGS="-C target-feature=+crt-static $(RELR)" $(CARGO) build --release --locked --target $(TARGET)

.PHONY: checkup build install examples test test-long bench man lint clean

checkup: build
	$(BIN) checkup --html report.html --json report.json

build:
	$(RELEASE) -p ramline-cli

# Builds nothing: root may have no toolchain.
PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
install:
	@test -x $(BIN) || { echo "install: $(BIN) is not built yet; try: make checkup" >&2; exit 1; }
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/ramline
	install -D -m 644 -t $(SHARE)/man/man1 man/*.1
	install -D -m 644 completions/ramline.bash $(SHARE)/bash-completion/completions/ramline
	install -D -m 644 -t $(SHARE)/zsh/site-functions completions/_ramline
	install -D -m 644 -t $(SHARE)/fish/vendor_completions.d completions/ramline.fish

examples:
	$(RELEASE) -p ramline-pagecache --examples

test:
	tests/run

test-long:
	tests/run --long

bench: build
	bench/run

man:
	rm -rf man completions
	$(CARGO) run --quiet --locked -p ramline-cli --example generate -- .

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

clean:
	$(CARGO) clean
