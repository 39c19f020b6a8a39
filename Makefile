# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` are all a newcomer needs; `make help` lists the rest.

SWIFT ?= swift
# Of every build; with other flags everything is built again.
BUILD_FLAGS ?=
BUILD := $(SWIFT) build $(BUILD_FLAGS)
PYTHON ?= python3
VENV := .venv
SOURCES := Package.swift Sources Samples Tests Benchmarks Fuzz/Package.swift Fuzz/Sources

.DEFAULT_GOAL := help
.PHONY: help run run-journal on-sqlite on-postgres test test-pages test-proxy test-stranger test-growing lint format build unit peers packages bench bench-long fuzz cuts orders soak flaws mutants times clean

help:                ## what there is to do
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' Makefile | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

run: packages        ## serve the sample's catalogue on http://127.0.0.1:4780
	$(BUILD) --product shopkeeper
	$(BUILD) --product hidden-beaches
	$(BUILD) --product level-pack
	$(BUILD) --product monkey-credits
	$(BUILD) --product newsstand
	$(BUILD) --product photo-filters
	$(BUILD) --product photo-filters-server
	$(BUILD) --product remove-ads
	@exec "$$($(SWIFT) build --show-bin-path)/shopkeeper" serve \
	    Samples/MonkeyCredits/MonkeyCredits.storekit --bundle-id com.example.monkeycredits $(ARGS)

run-journal: packages ## the sample with a server that embeds the ledger: store, server and app
	$(BUILD) --product shopkeeper
	$(BUILD) --product journal-server
	$(BUILD) --product journal
	@export PATH="$$($(SWIFT) build --show-bin-path):$$PATH"; exec shopkeeper exec \
	    Samples/Journal/Journal.storekit --bundle-id com.example.journal -- Samples/Journal/run $(ARGS)

test: packages peers lint build unit  ## lint, build, every test, the peers' checks

build:
	scripts/within 40 build $(BUILD) --build-tests

unit:                ## every test that is built, on both engines
	@scripts/run-tests --new-tally
	@$(MAKE) on-sqlite
	@$(MAKE) on-postgres
	@scripts/run-tests --tally

on-sqlite:
	SHOPKEEPER_PYTHON="$(CURDIR)/$(VENV)/bin/python" SWIFT="$(SWIFT)" scripts/run-tests $(or $(ARGS),--each)

on-postgres:         ## the store's and the ledger's own tests, and the scenarios, on the other engine
	SHOPKEEPER_TEST_ENGINE=postgres SWIFT="$(SWIFT)" scripts/run-tests --each ShopTests LedgerTests ScenarioTests

test-proxy: build    ## buy through a real nginx and a real Caddy, as docs/OPERATING.md configures them
	@scripts/install-packages nginx-light caddy
	$(PYTHON) Tests/Peers/real_proxies.py "$$($(SWIFT) build --show-bin-path)/shopkeeper"

test-pages: build peers  ## walk through the store's pages in headless Chromium
	@scripts/install-packages chromium chromium-driver
	scripts/within 10 test-pages $(VENV)/bin/python Tests/Peers/store_pages.py \
	    "$$($(SWIFT) build --show-bin-path)/shopkeeper" $(ARGS)

test-growing:        ## the store's own tests with two clusters, on files and PostgreSQL, and with tables split (scenarios too)
	SHOPKEEPER_TEST_CLUSTERS=2 SWIFT="$(SWIFT)" scripts/run-tests --filter ShopTests
	SHOPKEEPER_TEST_ENGINE=postgres SHOPKEEPER_TEST_CLUSTERS=2 SWIFT="$(SWIFT)" \
	    scripts/run-tests --filter ShopTests
	SHOPKEEPER_TEST_ENGINE=postgres SHOPKEEPER_TEST_PARTITIONS=4 SWIFT="$(SWIFT)" \
	    scripts/run-tests --filter 'ShopTests|ScenarioTests'

lint:                ## the formatter's strict rules
	scripts/within 10 lint $(SWIFT) format lint --strict --parallel --recursive $(wildcard $(SOURCES))

format:              ## write the files as the formatter wants them
	$(SWIFT) format format --in-place --parallel --recursive $(wildcard $(SOURCES))

test-stranger: packages  ## build a stranger's package against StoreKit, for real
	BUILD_FLAGS="$(BUILD_FLAGS)" scripts/within 30 test-stranger scripts/test-stranger

packages:            ## system packages that are missing, through apt
	@scripts/within 10 packages scripts/install-packages

peers: $(VENV)/.installed  ## Python libraries we test against, in a local environment

$(VENV)/.installed: Tests/Peers/requirements.txt
	@echo "Installing the test peers of $< into $(VENV)"
	$(PYTHON) -m venv $(VENV)
	@scripts/within 10 peers $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

bench: packages peers  ## the figures, as ratios measured in one run
	@scripts/install-packages nginx-light libarchive-tools
	SHOPKEEPER_PYTHON="$(CURDIR)/$(VENV)/bin/python" scripts/bench $(ARGS)

bench-long:          ## a jump of 100,000 subscriptions, and a year of their notifications; it takes an hour or two
	@$(MAKE) bench ARGS="$(or $(ARGS),jumps-long ledger-year)"

fuzz:                ## feed the parsers for SECONDS=600 each, with libFuzzer
	SWIFT="$(SWIFT)" scripts/fuzz $(or $(SECONDS),600) $(ARGS)

cuts: packages peers build  ## every cut of every story of the tests, on both engines
	SHOPKEEPER_CUTS=all SWIFT="$(SWIFT)" scripts/run-tests --filter 'CutTests|RenewalChargeTests|DecadeTests'
	SHOPKEEPER_CUTS=all SHOPKEEPER_TEST_ENGINE=postgres SWIFT="$(SWIFT)" scripts/run-tests --filter 'CutTests|RenewalChargeTests|DecadeTests'

orders: packages peers build  ## every order of what can happen to a purchase in the ledger; it takes an hour or two
	SHOPKEEPER_CUTS=all SHOPKEEPER_TEST_MINUTES=240 SHOPKEEPER_TEST_SILENCE=240 \
	    SWIFT="$(SWIFT)" scripts/run-tests --filter 'LedgerTests.*OrderTests'

soak: cuts orders    ## every cut, a fuzzer at every address, and the proof that nothing is lost or doubled, for MINUTES=20 an engine
	SHOPKEEPER_CUTS=all SHOPKEEPER_PYTHON="$(CURDIR)/$(VENV)/bin/python" SWIFT="$(SWIFT)" \
	    scripts/run-tests --filter CommandTests.OpenAPITests
	SHOPKEEPER_PYTHON="$(CURDIR)/$(VENV)/bin/python" scripts/soak $(or $(MINUTES),20) $(ARGS)

flaws: packages peers build  ## break a store on purpose, and see the proof find each flaw
	SHOPKEEPER_FLAWS=1 SHOPKEEPER_PYTHON="$(CURDIR)/$(VENV)/bin/python" SWIFT="$(SWIFT)" \
	    scripts/run-tests --filter ProofTests.FlawTests

mutants: packages    ## spoil the code in 25 ways a module, and count which of them the tests notice
	$(PYTHON) scripts/mutants $(ARGS)

times: packages      ## cold and incremental build times, for docs/HACKING.md
	scripts/build-times

clean:               ## forget everything built
	rm -rf .build .build-* Benchmarks/.build $(VENV)
