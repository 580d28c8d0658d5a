# Everything that developers and CI do here has a target: `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PIN := uv pip compile --quiet --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
  --no-emit-find-links --python-version 3.11

MICROPYTHON := tests/firmware/micropython/node_modules/.package-lock.json

# Tests start hundreds of programs. With bytecode on disk, modules are compiled only once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

MESSAGES := $(wildcard broker/locale/*/LC_MESSAGES/*.po)

$(VENV)/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Homologue needs Python 3.11, 3.12 or 3.13; $(PYTHON) is " + sys.version.split()[0] + ". Say which one to take: make PYTHON=python3.13 ...")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@command -v g++ >/dev/null || { echo "A C++ compiler is missing (one package comes as source only): sudo apt-get install g++ python3-dev"; exit 1; }
	@sed -nE '/^(setuptools|setuptools-scm|vcs-versioning|packaging)==/,/[^\\]$$/p' requirements.lock > $(VENV)/setuptools.lock
	$(BIN)/python -m pip install --quiet --require-hashes --requirement $(VENV)/setuptools.lock
	$(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation --requirement requirements.lock
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Real MicroPython, to test the button box's firmware: one npm package, pinned by hash.
$(MICROPYTHON): tests/firmware/micropython/package-lock.json
	npm ci --prefix $(<D) --silent --no-audit --no-fund
	@touch $@

# Compiled catalogues. Without them, programs parse the .po files, which takes longer.
broker/locale/%/LC_MESSAGES/homologue.mo: broker/locale/%/LC_MESSAGES/homologue.po $(VENV)/ready
	$(BIN)/python -m broker.locale compile
	@touch $(MESSAGES:.po=.mo)

.PHONY: setup
setup: $(VENV)/ready $(MESSAGES:.po=.mo) ## create .venv with the command `homologue`

.PHONY: demo
demo: setup ## play an event of 16 players on this machine (ONCE=1: stop when it is over)
	$(BIN)/homologue demo $(if $(ONCE),--once)

.PHONY: test
# Modules are compiled when they are imported, which is only a small part of what pip would compile.
test: export PIP_NO_COMPILE := 1
test: ## install what the tests need, then run linters, type and import checks, and all tests except the slow ones
	@tests/install-system-packages
	@$(MAKE) --no-print-directory $(MICROPYTHON) setup
	@$(MAKE) --no-print-directory -j 2 pytest lint # types are checked while tests wait

.PHONY: pytest
pytest: setup ## run only the tests, except the slow ones
	$(BIN)/python -m pytest -m "not slow" -n 4 --dist worksteal # more than the two cores, since tests often wait for a broker or a browser

.PHONY: test-slow
test-slow: setup ## run the slow tests: power cuts, attacks, long runs (after `make test`, which installs what they need)
	$(BIN)/python -m pytest -m slow -n 3 --dist worksteal

.PHONY: bench
bench: setup ## measure scoring (compared with pandas), luck and strength, ratings, simulated players, the referee, a movement for 64 players, restoring, riichi hands
	$(BIN)/python -m tests.benchmarks.scoring
	$(BIN)/python -m tests.benchmarks.strength
	$(BIN)/python -m tests.benchmarks.rating
	$(BIN)/python -m tests.benchmarks.club
	$(BIN)/python -m tests.benchmarks.referee
	$(BIN)/python -m tests.benchmarks.movement
	$(BIN)/python -m tests.kiosk.trials
	$(BIN)/python -m tests.benchmarks.riichi.speed
	$(BIN)/python -m tests.benchmarks.riichi.agreement

.PHONY: bench-scorer
bench-scorer: setup ## measure results (compared with the bare broker), a restart, a hall of 1,000 tables
	$(BIN)/python -m tests.benchmarks.scorer.ingest
	$(BIN)/python -m tests.benchmarks.scorer.restart
	$(BIN)/python -m tests.benchmarks.scorer.hall

.PHONY: bench-scale
bench-scale: setup ## measure 10,000 tables in 40 halls and their centre, from tables to standings (TABLES=N HALLS=N ROUNDS=N TIMES=N)
	$(BIN)/python -m tests.benchmarks.scorer.world $(if $(TABLES),--tables $(TABLES)) $(if $(HALLS),--halls $(HALLS)) \
	  $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(TIMES),--times $(TIMES))

.PHONY: bench-vision
bench-vision: setup ## measure our reader, compared with Tesseract, RapidOCR and zxing-cpp (PICTURES=FOLDER LIMIT=N)
	-@tests/install-system-packages bench-vision
	$(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation --requirement requirements-bench.lock
	$(BIN)/python -m tests.benchmarks.vision $(if $(PICTURES),--pictures $(PICTURES)) $(if $(LIMIT),--limit $(LIMIT))

.PHONY: bench-columns
bench-columns: setup ## measure a million plays from stream to standings, compared with pandas, DuckDB and PostgreSQL
	$(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation --requirement requirements-bench.lock
	$(BIN)/python -m tests.benchmarks.columns

.PHONY: bench-hands
bench-hands: $(MICROPYTHON) setup ## measure button presses from edge to disk, their order, garbage on the line, plugging (PARTS="journal pins box scanner")
	$(BIN)/python -m tests.benchmarks.hands $(PARTS)

.PHONY: bench-kiosk
bench-kiosk: setup ## measure a kiosk's start, idle load, camera, memory, touch to screen (PARTS="start killed idle camera touch")
	$(BIN)/python -m tests.benchmarks.kiosk $(PARTS)

.PHONY: cuts
cuts: setup ## kill a kiosk at each write and in each state, thousands of times (KILLS=N SEED=N)
	$(BIN)/python -m tests.kiosk.cuts $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

.PHONY: power
power: setup ## cut the power at each write of tables, scorer, accounts and backups, and open what is left (CUTS=N SEED=N)
	@command -v strace >/dev/null || tests/install-system-packages
	$(BIN)/python -m tests.power $(if $(CUTS),--cuts $(CUTS)) $(if $(SEED),--seed $(SEED))

.PHONY: chaos
chaos: setup ## play a whole event while everything fails, and check the result (SEED=N PLAYS=N TABLES=N BROKER=embedded|mosquitto PLAIN=yes)
	$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(PLAYS),--plays $(PLAYS)) \
	  $(if $(TABLES),--tables $(TABLES)) $(if $(BROKER),--broker $(BROKER)) $(if $(filter yes,$(PLAIN)),--plain)

.PHONY: grow
grow: setup ## play an event in three halls with a centre while everything between them fails, and check the result (SEED=N TABLES=N ROUNDS=N STORE=postgresql)
	$(BIN)/python -m tests.grow $(if $(SEED),--seed $(SEED)) $(if $(TABLES),--tables $(TABLES)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(STORE),--store $(STORE))

.PHONY: attack
attack: setup ## attack a running scorer, broker and desk, and print what was tried and what was repelled (BROKER= SEED=N TLS=yes|no ONLY=NAME)
	$(BIN)/python -m tests.attack $(if $(SEED),--seed $(SEED)) $(if $(BROKER),--broker $(BROKER)) \
	  $(if $(filter yes,$(TLS)),--tls) $(if $(filter no,$(TLS)),--plain) $(if $(ONLY),--only $(ONLY))

SUPPLY := $(VENV)/supply
$(SUPPLY): requirements-supply.lock $(VENV)/ready
	$(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation --requirement requirements-supply.lock
	@touch $@

.PHONY: sbom
sbom: setup $(SUPPLY) ## write the bill of materials, with hashes, to build/homologue.cdx.json (CycloneDX)
	@mkdir -p build
	$(BIN)/python -m tests.supply.sbom $(VERSION) > build/homologue.cdx.json.new && mv build/homologue.cdx.json.new build/homologue.cdx.json

.PHONY: audit
audit: setup $(SUPPLY) ## check the pinned packages for known vulnerabilities; fails also if they cannot be checked
	$(BIN)/homologue version
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

SITE := build/site-env
$(SITE)/ready: requirements-site.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --require-hashes --requirement $<
	@touch $@

.PHONY: site
site: $(SITE)/ready ## build the documentation site in build/site, in three languages, with search (VERSION=0.2.0)
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --site-dir build/site/$(or $(VERSION),development)

.PHONY: release
release: setup $(SUPPLY) ## cut the changelog, tag, and build wheel, source, packages, SBOM and checksums in dist (VERSION=0.2.0)
	$(BIN)/python -m tests.supply.release $(VERSION)

.PHONY: lint
lint: setup ## check with ruff, mypy, import-linter, and the translation catalogues
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -c 'import gc; gc.enable = gc.disable; gc.disable(); from mypy.__main__ import console_entry; console_entry()' # without garbage collection mypy is a seventh faster
	$(BIN)/lint-imports
	$(BIN)/python -m broker.locale check

.PHONY: format
format: setup ## format the code, and fix what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: setup ## regenerate the documents that are generated from the code
	$(BIN)/python -m broker.protocol.asyncapi > docs/asyncapi.json.new && mv docs/asyncapi.json.new docs/asyncapi.json
	$(BIN)/python -m broker.web.api.resources > docs/openapi.json.new && mv docs/openapi.json.new docs/openapi.json
	$(BIN)/python -m broker.export.document > docs/event-document.json.new && mv docs/event-document.json.new docs/event-document.json
	$(BIN)/python -m kiosk.table.diagram > docs/table-states.md.new && mv docs/table-states.md.new docs/table-states.md
	$(BIN)/python -m kiosk.settings_page > docs/settings.md.new && mv docs/settings.md.new docs/settings.md
	$(BIN)/python -m broker.cli.reference index > broker/cli/commands.json.new && mv broker/cli/commands.json.new broker/cli/commands.json
	$(BIN)/python -m broker.cli.reference commands > docs/commands.md.new && mv docs/commands.md.new docs/commands.md
	$(BIN)/python -m broker.cli.reference profiles > docs/profiles.md.new && mv docs/profiles.md.new docs/profiles.md
	$(BIN)/python -m broker.cli.reference topics > docs/topics.md.new && mv docs/topics.md.new docs/topics.md
	$(BIN)/python -m tests.broker.protocol.codes > docs/codes.md.new && mv docs/codes.md.new docs/codes.md
	$(BIN)/python -m firmware.diagrams header > docs/wiring.svg.new && mv docs/wiring.svg.new docs/wiring.svg
	$(BIN)/python -m firmware.diagrams box > docs/button-box.svg.new && mv docs/button-box.svg.new docs/button-box.svg

.PHONY: man
man: setup ## write a man page for each command to build/man
	$(BIN)/python -m broker.cli.reference man build/man

.PHONY: messages
messages: setup ## extract the texts from the code into the translation catalogues
	$(BIN)/python -m broker.locale update

.PHONY: screens
screens: setup ## draw every kiosk screen, in each language and two sizes, as contact sheets in docs/pictures
	$(BIN)/python -m tests.kiosk.screens.gallery docs/pictures

.PHONY: pages
pages: setup ## render every page of the desk as contact sheets in build/pages, and report broken layout rules (LOOKS="phone fr dark")
	$(BIN)/python -m tests.broker.web.pages.gallery build/pages $(LOOKS)

.PHONY: pictures
pictures: setup ## retake the guides' pictures of the desk and its prints in docs/pictures
	$(BIN)/python -m tests.broker.web.pages.pictures docs/pictures

.PHONY: lock
lock: ## update the pinned dependencies, with hashes (needs uv)
	$(PIN) pyproject.toml --all-extras --group dev --output-file requirements.lock
	$(PIN) pyproject.toml --all-extras --group bench --constraint requirements.lock --output-file requirements-bench.lock
	$(PIN) --group site --constraint requirements.lock --output-file requirements-site.lock
	$(PIN) pyproject.toml --group supply --constraint requirements.lock --output-file requirements-supply.lock

DIST ?= trixie
DEB_ARCH ?= $(shell dpkg --print-architecture)

.PHONY: deb
deb: setup ## build the Debian packages in build/deb (DIST=bookworm|trixie DEB_ARCH=amd64|arm64; as root; needs uv)
	@command -v uv >/dev/null || { echo "uv is missing: python3 -m pip install uv"; exit 1; }
	@tests/install-system-packages deb
	$(BIN)/python packaging/build.py --dist $(DIST) --arch $(DEB_ARCH)

.PHONY: arm64
arm64: setup ## run the arm64 packages of build/deb in an emulator, and compare them with this machine (DIST=bookworm|trixie)
	@tests/install-system-packages deb
	$(BIN)/python packaging/arm64.py --dist $(DIST)

.PHONY: lab
lab: setup ## install build/deb in a virtual machine and make everything fail there; takes some 40 minutes (CUTS=N SEED=N UNTIL=THEME ONLY=THEME TABLES=N KEEP=FOLDER)
	@tests/install-system-packages lab
	$(BIN)/python -m tests.lab $(if $(CUTS),--cuts $(CUTS)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(UNTIL),--until $(UNTIL)) $(if $(ONLY),--only $(ONLY)) $(if $(TABLES),--tables $(TABLES)) $(if $(KEEP),--keep $(KEEP))

.PHONY: clean
clean: ## remove the virtual environment and caches (events are kept)
	rm -rf $(VENV) $(dir $(MICROPYTHON)) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
