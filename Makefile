# Front doors. `make checkup` and `make test` do all the set-up they need.

CARGO ?= cargo
BIN := target/release/ramline
# The virtual machines run a static binary; `--target` keeps the flag away from build scripts.
STATIC_TARGET := $(shell uname -m)-unknown-linux-gnu
STATIC_BIN := target/static/$(STATIC_TARGET)/release/ramline

.PHONY: checkup build static test test-long bench man lint clean

checkup: build
	$(BIN) checkup --html report.html --json report.json

build:
	$(CARGO) build --release --locked -p ramline-cli

static:
	RUSTFLAGS="-C target-feature=+crt-static" $(CARGO) build --release --locked -p ramline-cli \
		--target $(STATIC_TARGET) --target-dir target/static

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
