# Set-up, run, test. Only Python >= 3.11, make and git are assumed; everything else is installed into .uv and .venv.
PYTHON ?= python3
UV := .uv/bin/uv
export UV_NO_CONFIG := 1
# Use the system's certificates, like git and pip, so that it works behind a company's proxy.
export UV_SYSTEM_CERTS := 1
# Containers often set this; without compiled files each of the hundred processes of the tests compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run chat setup page modules wheel release-check release audit browser quick test thorough stress soak leaks mutants lint bench docs pictures lock clean scaffold
run: setup page
	@.venv/bin/showandtell serve $(if $(DISPLAY)$(WAYLAND_DISPLAY),--open)

# The same in the terminal.
chat: setup
	@.venv/bin/showandtell chat

setup: .venv/.ready

# Three processes on two cores, because many tests wait. One file: `.venv/bin/python -m pytest tests/test_x.py`.
test: .venv/.ready-dev modules page browser
	.venv/bin/python -m pytest -m "not thorough" --hypothesis-profile same --numprocesses 3 --dist worksteal

# The pure tests, and a smoke test of each layer above: what to run while you edit.
quick: .venv/.ready-dev
	.venv/bin/python -m pytest -m "pure or smoke" tests/core $$(grep -rl --include="test_*.py" "mark\.smoke" tests)

# Variants and slow examples, which `make test` leaves out: docs/testing.md.
thorough: .venv/.ready-dev modules page browser
	.venv/bin/python -m pytest tests -m thorough --numprocesses 3 --dist worksteal

# Minutes to hours: these, random search with the property tests, thousands of faults, cuts at every byte, a real LiteLLM proxy.
# docs/reliability.md has the results.
stress: thorough
	.venv/bin/python -m pytest tests -m hypothesis --hypothesis-profile search --timeout 3600
	.venv/bin/python -m pytest stress

# All tests, with every log record from DEBUG on searched for keys and bytes.
leaks: .venv/.ready-dev modules page browser
	PYTHONPATH=stress .venv/bin/python -m pytest -p secret_leaks --hypothesis-profile same

# Whether a test fails if the code is changed, for a sample that SEED decides: an hour, see docs/testing.md.
SEED := 21
mutants: .venv/.ready-dev
	.venv/bin/python stress/mutants.py --seed $(SEED)

# The browser for the page's tests: the version that web/tests/package-lock.json pins.
BROWSER := web/tests/.browser/.ready
browser: $(BROWSER)
$(BROWSER): web/tests/package-lock.json web/tests/browser.mjs | modules
	@echo "installing the browser of the page's tests ..."
	@$(PYTHON) hatch_build.py --browser
	@mkdir -p $(@D) && touch $@

# Write the generated parts of the README and docs/, and build the site into build/site. Links are checked.
docs: .venv/.ready-dev
	.venv/bin/python docs/generate.py
	.venv/bin/python -m sphinx --fail-on-warning --keep-going --quiet -c docs -d build/doctrees . build/site
	@echo "open build/site/index.html"

# Write what has to follow the rows of a new provider, and list the rest: make scaffold PROVIDER=acme
scaffold: .venv/.ready-dev
	.venv/bin/python lint/scaffold.py $(PROVIDER)

# Take the pictures of the README and docs/ again.
pictures: .venv/.ready-dev modules page browser
	$$($(PYTHON) hatch_build.py --node)/node docs/pictures.mjs

lint: .venv/.ready-dev modules page
	.venv/bin/ruff check conftest.py src tests stress bench docs examples lint hatch_build.py
	.venv/bin/ruff format --check conftest.py src tests stress bench docs examples lint hatch_build.py
	.venv/bin/python lint/words.py
	.venv/bin/python lint/deadlines.py
	.venv/bin/pyright
	.venv/bin/zizmor --offline --quiet --min-severity low .
	.venv/bin/hadolint Dockerfile
	@$(PYTHON) hatch_build.py --check
	@$$($(PYTHON) hatch_build.py --node)/node web/tests/lint.mjs

# Writes docs/speed.md. BENCH_STATE says how busy the machine was, as in `make bench BENCH_STATE="nothing else ran"`.
BENCHES := start steps long_results values request wire stream store files pages uploads runs turns held_loop load \
	mounted page memory_of_server footprint growth
bench: .venv/.ready-dev modules page browser
	@for name in $(BENCHES); do .venv/bin/python bench/$$name.py || exit 1; done
	.venv/bin/python bench/report.py $(BENCHES)

# Half an hour of faults, and what they leave behind: docs/reliability.md.
soak: .venv/.ready-dev modules page
	.venv/bin/python bench/soak.py 30

# The page, built from web/ with Node: the installed one if it is new enough, otherwise PyPI's, in .node.
PAGE := src/showandtell/server/page/index.html
page: $(PAGE)
$(PAGE): $(shell find web \( -path web/node_modules -o -path web/tests \) -prune -o -type f -print) hatch_build.py requirements-node.txt | $(UV)
	@$(NODE)
	@echo "building the page ..."
	@$(PYTHON) hatch_build.py
	@touch $@
	@test -e .venv/.ready-dev || rm -rf web/node_modules .node  # 570 MB that only the build needs

NODE = $(PYTHON) hatch_build.py --node >/dev/null || { echo "installing Node into .node ..." \
	&& $(UV) venv --quiet --allow-existing --python $(PYTHON) .node \
	&& $(UV) pip sync --quiet --python .node/bin/python --require-hashes requirements-node.txt; }

# What the page is built of, which tests use, too.
MODULES := web/node_modules/.package-lock.json
modules: $(MODULES)
$(MODULES): web/package-lock.json | $(UV)
	@$(NODE)
	@$(PYTHON) hatch_build.py --install
	@touch $@

# A wheel with the page in it: docs/deploy.md.
CONSTRAINTS := $(foreach name,requirements requirements-node requirements-sbom,--build-constraints $(name).txt)
wheel: page | $(UV)
	@rm -f dist/showandtell-*.whl
	@$(UV) build --quiet --wheel --python $(PYTHON) $(CONSTRAINTS) --require-hashes --out-dir dist
	@ls dist/showandtell-*.whl

# Build sdist and wheel, and try these files with each extra alone and with all, on each Python that is installed here.
release-check: .venv/.ready-dev modules page
	@rm -f dist/showandtell-*
	@$(UV) build --quiet --python $(PYTHON) $(CONSTRAINTS) --require-hashes --out-dir dist
	DIST=dist .venv/bin/python -m pytest tests/install --release --numprocesses 3 --dist worksteal

# The same for a version that tag and changelog name: CONTRIBUTING.md.
release:
	@$(PYTHON) lint/release.py $(VERSION)
	@$(MAKE) release-check

# Ask the advisories of PyPI and npm about the locked versions. This needs the internet.
audit: modules | $(UV)
	$(UV) tool run --from pip-audit==2.10.1 pip-audit --strict --disable-pip --require-hashes --requirement requirements.txt
	@$(PYTHON) hatch_build.py --audit

$(UV): requirements-uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Show & Tell needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv .uv
	@.uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt
	@.uv/bin/python -m pip uninstall --quiet --yes --disable-pip-version-check setuptools pip 2>/dev/null  # uv replaces it
	@touch $@

# A sync removes what is in no list, the project included, so that is installed last. The development set holds everything
# of the other: `make run` after `make test` keeps it.
# Only for tests all modules are compiled at once; a server compiles those that it imports.
INSTALL = $(UV) pip sync --quiet $(if $(findstring dev,$(1)),--compile-bytecode) --python .venv/bin/python --require-hashes $(1) \
	&& $(UV) pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation --editable .
WANTED = $(if $(wildcard .venv/.ready-dev),requirements-dev.txt,requirements.txt)

.venv/.ready: $(UV) requirements.txt pyproject.toml
	@test -e .venv/bin/python || $(UV) venv --quiet --python $(PYTHON) .venv
	@echo "installing the libraries into .venv ..."
	@$(call INSTALL,$(WANTED))
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.txt
	@echo "installing the libraries for tests into .venv ..."
	@$(call INSTALL,requirements-dev.txt)
	@touch $@

# Hashes and no addresses: uv.lock names package hosts, so it isn't kept.
LOCK := pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url --python-version 3.11
lock: $(UV)
	$(UV) $(LOCK) pyproject.toml --all-extras --group build -o requirements.txt
	$(UV) $(LOCK) --group pyproject.toml:node -o requirements-node.txt
	$(UV) $(LOCK) --group pyproject.toml:sbom -o requirements-sbom.txt
	$(UV) $(LOCK) pyproject.toml --all-extras --group dev -c requirements.txt -o requirements-dev.txt

clean:
	rm -rf .venv .uv .node web/node_modules web/tests/node_modules web/tests/.browser src/showandtell/server/page build dist bench/.envs stress/.envs
