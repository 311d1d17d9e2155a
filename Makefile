# Two commands do everything on a fresh Debian 12 with Swift 6.3: `make demo` and `make test`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PACKAGES := libcurl4-openssl-dev libsqlite3-dev libssl-dev libzstd-dev zlib1g-dev openssl zstd python3-venv pkg-config curl jq mosquitto mosquitto-clients \
    chromium wrk gnutls-bin libcoap3-bin libpq5 postgresql-15 librdkafka1
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
KYMO := .build/release/kymo
# The validator, the real data and the rivals that some tests and measurements use; not part of the project.
export KYMO_SHARED ?= ../shared
export KYMO_PYTHON ?= $(CURDIR)/.venv/bin/python

.PHONY: help
help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup
setup: ## Install the Debian packages that are missing
	@missing=$$(for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	    echo "installing $$missing"; \
	    $(SUDO) apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq $$missing >/dev/null; \
	fi

.venv/ready: Tests/Validation/requirements.txt
	@python3 -m venv .venv
	@.venv/bin/pip install -q --disable-pip-version-check -r Tests/Validation/requirements.txt
	@if [ -f "$(KYMO_SHARED)/fhir/requirements.txt" ]; then \
	    .venv/bin/pip install -q --disable-pip-version-check -r "$(KYMO_SHARED)/fhir/requirements.txt"; fi
	@touch $@

# Each function is a section of its own, so that the linker leaves out those that nothing refers to.
# The linker is named here, since the compiler gets its name too: with another name everything is compiled again.
# The folder's name is in no file that is made: two builds of one commit are the same (packaging/reproducible.sh).
COMPILING := -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld \
    -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=.
# Nothing is loaded that calls back into the binary, so it exports no symbols; nothing unwinds its stack, so it has no
# unwind tables and no index of them. The map is what Benchmarks/size.sh and packaging/sbom.py read.
# Relocations are packed, which needs glibc 2.36 (Debian 12): a fifth of them is left (docs/decisions/0025).
LINKING := -Xlinker -z -Xlinker pack-relative-relocs \
    -Xlinker --no-export-dynamic -Xlinker --icf=safe -Xlinker --no-eh-frame-hdr \
    -Xlinker -T -Xlinker $(CURDIR)/packaging/no-unwind-tables.ld \
    -Xlinker -Map=$(CURDIR)/.build/last.map

# What `kymo --version` and the metrics tell. Git writes it into the archives that it makes of a commit.
COMMIT = $(shell if [ -e .git ]; then git describe --always --abbrev=12 --exclude='*' --dirty; \
    else sed -nE 's/^([0-9a-f]{12})[0-9a-f]*$$/\1/p' packaging/commit; fi)

.PHONY: build
build: export KYMO_COMMIT ?= $(COMMIT)
build: setup ## Build the release binary (.build/release/kymo), and the one to install (.build/install/kymo)
	swift build -c release --product kymo --static-swift-stdlib $(COMPILING) $(LINKING)
	@# Every program that is linked writes the map, those too that the build runs: only the product's is kept.
	@if grep -qs /kymo.build/ .build/last.map; then mv .build/last.map .build/kymo.map; fi
	@# To install: without symbols, which debuggers find in kymo.debug beside it.
	@mkdir -p .build/install
	@# Its checksum is in what is installed: without serialised modules, which name the folder, and which only lldb reads.
	@objcopy --only-keep-debug --remove-section=.swift_ast $(KYMO) .build/install/kymo.debug
	@objcopy --strip-all --add-gnu-debuglink=.build/install/kymo.debug $(KYMO) .build/install/kymo

# With the product's flags and in its folder, so that the modules that both have are compiled once.
.PHONY: probes
probes: export KYMO_COMMIT ?= $(COMMIT)
probes: setup ## Build the programs whose instructions the gate counts
	for probe in StageProbe DoorProbe; do \
	    KYMO_BENCHMARKS=1 swift build -c release --product $$probe --static-swift-stdlib $(COMPILING); done

.PHONY: sbom
sbom: build ## Say what the binary to install consists of (.build/install/kymo.cdx.json, .build/install/kymo.spdx.json)
	packaging/sbom.py .build/install/kymo .build/install --map .build/kymo.map

.PHONY: deb
deb: build ## Make the Debian package (.build/deb)
	packaging/deb.sh

.PHONY: reproducible
reproducible: setup ## Build the last commit twice in different folders, and compare
	packaging/reproducible.sh

.PHONY: package-test
package-test: build .venv/ready ## Make the packages, install them in a fresh Debian, and use them
	packaging/deb.sh
	packaging/test.sh

.PHONY: size
size: build ## Print what the release binary consists of, and its size beside what is promised
	Benchmarks/size.sh

.PHONY: demo
demo: setup .venv/ready ## Devices in, validated FHIR out
	@mkdir -p .build
	@echo "building kymo: the first time takes about six minutes on two processors; all that is said: .build/build.log"
	@# On a terminal the last line that the compiler printed is shown, so that one sees it go on.
	@$(MAKE) build 2>&1 | tee .build/build.log | while IFS= read -r line; do \
	    [ ! -t 1 ] || printf '\r\033[K%.79s' "$$line"; done || { tail -n 40 .build/build.log; exit 1; }
	@[ ! -t 1 ] || printf '\r\033[K'
	@printf '\n================================ the demo ================================\n\n'
	@Tests/Validation/demo.sh $(KYMO)

# A build of its own, because the core is optimised in it (Package.swift): tests take half the time.
TESTS := .build/tests
# Properties generate a tenth of the slow cases here and all in `torture`; KYMO_SEED=n generates others.
RUN_TESTS := $(KYMO_PYTHON) -B Tests/Validation/run_tests.py $(TESTS)/debug/kymographPackageTests.xctest
# Tests start kymo thousands of times: what is released begins in a hundredth of a second, a debug build in half of one,
# since the parser of arguments checks all their declarations then.
test torture door-kills rabbitmq console-test console-screenshots: export KYMO_BINARY = $(CURDIR)/$(KYMO)
# Not of the targets that need the release, too: they hand it on to what they need.
test-build docs: export KYMO_TESTS_OPTIMISED = 1

.PHONY: test-build
test-build: setup ## Build the tests
	swift build --build-tests --scratch-path $(TESTS)

.PHONY: test
test: build test-build .venv/ready ## Run all tests
	$(RUN_TESTS)
	$(KYMO) test
	$(KYMO_PYTHON) Tests/Validation/check_schemas.py mappings
	$(KYMO_PYTHON) -B -m unittest discover -s Tests/Bridges
	$(KYMO_PYTHON) -B -m unittest discover -s Tests/Console
	$(KYMO_PYTHON) -B -m unittest discover -s Tests/Soak
	$(KYMO_PYTHON) -B -m unittest discover -s Tests/Simulation

.PHONY: console-test
console-test: build test-build .venv/ready ## Run all tests of the console in a real Chromium (ONLY=StatesTests: those)
	KYMO_CONSOLE_ALL=1 $(KYMO_PYTHON) -B -m unittest discover -v -s Tests/Console $(if $(ONLY),-k $(ONLY))

.PHONY: console-screenshots
console-screenshots: build test-build .venv/ready ## Write the pictures of the console (docs/images)
	$(KYMO_PYTHON) -B Tests/Console/screenshots.py

.PHONY: torture
torture: build test-build .venv/ready ## Run all tests but those of EndToEndTests with full counts, and 1,000 crashes of each kind (hours)
	KYMO_TORTURE=1000 $(RUN_TESTS) --timeout 0 --skip EndToEndTests

.PHONY: door-kills
door-kills: build test-build .venv/ready ## Kill kymo 100 times under load at each door that acknowledges (minutes)
	KYMO_TORTURE=100 $(RUN_TESTS) --timeout 0 --filter 'DoorCrashTests|MQTTCrashTests'

.PHONY: rabbitmq
rabbitmq: build test-build .venv/ready ## Install RabbitMQ, and kill it and kymo in turn while readings come by it
	@dpkg -s rabbitmq-server >/dev/null 2>&1 || DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq rabbitmq-server >/dev/null
	$(KYMO_PYTHON) -B -m unittest discover -v -s Tests/Brokers

# Hours, and what decides what happens when. BINARY=FILE runs that one, and nothing is built.
H ?= 24
SEED ?= 1

.PHONY: soak
soak: $(if $(BINARY),,build) .venv/ready ## Run kymo for H hours (24) by all doors, while settings, servers, keys and clocks change
	$(KYMO_PYTHON) -B Tests/Soak/soak.py $(or $(BINARY),$(KYMO)) --hours $(H) --seed $(SEED)

# Seeds from SEED on. BINARY=FILE runs that one, and nothing is built.
SEEDS ?= 1000

.PHONY: simulation
simulation: $(if $(BINARY),,build) .venv/ready ## Run kymo in a simulated world with faults, for SEEDS seeds (1000) from SEED on
	$(KYMO_PYTHON) -B Tests/Simulation/simulate.py $(or $(BINARY),$(KYMO)) --seeds $(SEEDS) --seed $(SEED)

# libFuzzer without its main, of the compiler's own clang: nothing else has the same version.
LIBFUZZER = $(shell "$$(dirname "$$(realpath "$$(command -v swiftc)")")/clang" \
    -print-file-name=libclang_rt.fuzzer_no_main-$(shell uname -m).a)
FUZZING := .build/fuzz
# `debug` is built in less than half of the time, and runs fewer inputs a second: for a look at each change.
FUZZ_MODE ?= release
FUZZ := $(FUZZING)/$(FUZZ_MODE)/Fuzzing
# Seconds for all targets together.
T ?= 60
TARGETS ?=

.PHONY: fuzz-build
fuzz-build: setup ## Build the fuzz targets, with AddressSanitizer
	@# The program that embeds the catalogue ends without giving its memory back.
	KYMO_FUZZ=$(LIBFUZZER) ASAN_OPTIONS=detect_leaks=0 swift build -c $(FUZZ_MODE) --product Fuzzing --sanitize=address \
	    --scratch-path $(FUZZING) -Xswiftc -gnone

.PHONY: fuzz
fuzz: fuzz-build ## Run all fuzz targets within T seconds (60), or those of TARGETS=name,name
	python3 -B Tests/Fuzzing/fuzz.py $(FUZZ) --check
	python3 -B Tests/Fuzzing/fuzz.py $(FUZZ) --seconds $(T) --targets "$(TARGETS)"

.PHONY: docs
docs: test-build ## Build the reference of the library (.build/docs); warnings are errors
	Tests/Validation/reference.sh $(TESTS) .build/docs

.PHONY: lint
lint: ## Check the format of all Swift files
	swift format lint --strict --recursive Package.swift Sources Tests Benchmarks/Benchmarks Benchmarks/Sources

.PHONY: format
format: ## Format all Swift files
	swift format --in-place --recursive Package.swift Sources Tests Benchmarks/Benchmarks Benchmarks/Sources

.PHONY: bench
bench: build ## Print each stage beside its twin in C and what is promised, then all benchmarks
	Benchmarks/run.sh
	KYMO=$(KYMO) Benchmarks/resent.sh

.PHONY: resent
resent: build ## Print what a reading costs that has come before, beside a fresh one
	KYMO=$(KYMO) Benchmarks/resent.sh

.PHONY: timeline
timeline: build ## Print how long the timeline of a patient's day takes in a store of 100 million readings
	KYMO=$(KYMO) Benchmarks/timeline.sh

.PHONY: bytes
bytes: build ## Print bytes per reading of the output beside what is promised
	KYMO=$(KYMO) Benchmarks/bytes.sh

.PHONY: durable
durable: build ## Print what losing nothing costs, beside what is promised
	KYMO=$(KYMO) Benchmarks/durable.sh

.PHONY: sealed
sealed: build ## Print what encryption costs, beside what is promised
	KYMO=$(KYMO) Benchmarks/sealed.sh

.PHONY: bench-payloads
bench-payloads: build ## Print what it costs to keep payloads as they came
	KYMO=$(KYMO) Benchmarks/payloads.sh

.PHONY: bench-doors
bench-doors: build .venv/ready ## Compare HTTP with a Unix stream socket and an aiohttp service, TLS with TCP, DTLS and sealed datagrams with UDP, MQTT with mosquitto_sub; and MLLP
	KYMO=$(KYMO) Benchmarks/mllp.sh
	KYMO=$(KYMO) Benchmarks/mqtt.sh
	KYMO=$(KYMO) Benchmarks/dtls.sh
	KYMO=$(KYMO) Benchmarks/doors.sh
	KYMO=$(KYMO) Benchmarks/single.sh

.PHONY: import
import: build ## Print time and memory of importing a generated export of Apple Health with 2 GB of XML
	KYMO=$(KYMO) Benchmarks/import.sh

.PHONY: hostile
hostile: build ## Print what a good client of HTTP, TCP and MLLP keeps of its rate beside 1,000 hostile connections
	KYMO=$(KYMO) Benchmarks/hostile.sh

.PHONY: latency
latency: build ## Print how long readings take through the pipeline, beside what is promised
	KYMO=$(KYMO) Benchmarks/latency.sh

.PHONY: overload
overload: build ## Offer more than the pipeline can take, and count every datagram
	KYMO=$(KYMO) Benchmarks/overload.sh

.PHONY: operations
operations: build ## Print what sinks that hang cost, and a scrape of 5,000 series, beside what is promised
	KYMO=$(KYMO) Benchmarks/operations.sh

.PHONY: datagrams
datagrams: build ## Print what a datagram costs beside a receiver in C, and how many readings come in batches
	KYMO=$(KYMO) Benchmarks/datagrams.sh

.PHONY: growth
growth: build ## Print how cost and memory grow with series, windows and templates
	KYMO=$(KYMO) Benchmarks/growth.sh

.PHONY: bench-console
bench-console: build .venv/ready ## Print what viewers of the console cost, and how fast and large its pages are
	KYMO=$(KYMO) KYMO_PYTHON=.venv/bin/python Benchmarks/console.sh

.PHONY: bench-kafka
bench-kafka: build .venv/ready ## Measure a source of Kafka: readings per second of one instance, of two, and of librdkafka alone
	KYMO=$(KYMO) KYMO_PYTHON=.venv/bin/python Benchmarks/kafka.sh

.PHONY: bench-postgres
bench-postgres: build ## Measure a sink of PostgreSQL: rows per second beside one INSERT for each
	KYMO=$(KYMO) Benchmarks/postgres.sh

.PHONY: bench-parquet
bench-parquet: build .venv/ready ## Measure an export as Parquet: bytes per reading, speed beside pyarrow, memory
	KYMO=$(KYMO) KYMO_PYTHON=.venv/bin/python Benchmarks/parquet.sh

.PHONY: bench-waits
bench-waits: build ## Measure the ways of waiting between threads, and a second lane
	KYMO=$(KYMO) Benchmarks/waits.sh

.PHONY: bench-rivals
bench-rivals: build ## Compare with scripts and a database on the same readings
	KYMO=$(KYMO) Benchmarks/rivals.sh

.PHONY: bench-limits
bench-limits: ## Print what this machine can do at most: packets, rings, scanning, files
	Benchmarks/limits.sh

.PHONY: gate
gate: probes ## Check instructions and allocations per reading against the thresholds
	Benchmarks/gate.sh
