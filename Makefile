# What there is to do in a checkout. Each target sets up what it needs, and does so only once.
PYTHON := .venv/bin/python
BLENDERS := 4.2 4.5 5.0 5.2
ENVIRONMENTS := $(BLENDERS:%=environment-%)
SMOKE := $(addprefix tests/blender/test_,installation.py actions.py robot.py bake.py command_line.py migration.py)
NOT_BLENDERS := code_for_this_cpu# the same for all Blenders of one Python

.PHONY: help environment demo demo-physics test test-library test-servo test-long mutants reachy-daemon moving-picture test-installed test-blender most-blender-4.2 smoke-installed test-gui pictures extension kernels release lint docs bench survey peers peers-retargeting clean $(ENVIRONMENTS)
.DEFAULT_GOAL := help

help: ## This list
	@sed -n 's/^\([a-z%.-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | expand -t 18

environment: ## .venv with Blender's module and all that is pinned in requirements/
	@tools/environment .venv

demo: environment ## The walker walks, with balance, servos and physics: out/; or a recording of yours: make demo BVH=file
	$(PYTHON) -m demo.run $(STAND) $(if $(BVH),--bvh "$(BVH)") $(if $(MOMENTS),--moments $(MOMENTS)) $(if $(TRIALS),--trials $(TRIALS))

demo-physics: STAND := --stand
demo-physics: demo ## The same, and the search that found with which settings of servos the walk stands

test: environment ## All tests, on one Blender, three kinds at a time; tells how far each is
	@$(MAKE) --no-print-directory --keep-going --jobs 3 TOLD="-p tests.progress" BESIDE="nice -n 19" test-library test-servo test-installed

test-library: environment ## The library's tests, but for servos
	$(BESIDE) $(PYTHON) -m pytest -q $(TOLD) --durations=30 --durations-min=2 tests --ignore tests/servo

test-servo: environment ## The tests of servos, two at a time: they wait for servos most of the time
	$(PYTHON) -m pytest -q $(TOLD) --durations=10 --durations-min=2 -n 2 --dist loadfile tests/servo

test-long: environment ## The longest tests, which no other target runs: agreement with the reference over many robots and clips
	$(PYTHON) -m pytest -q tests -m long
	$(PYTHON) -m pytest -q tests/blender -m long

mutants: environment ## Whether tests notice small faults: 80 of them; fewer: make mutants COUNT=20 SEED=3
	$(PYTHON) -m tools.mutants --count $(or $(COUNT),80) --seed $(or $(SEED),0)

mutants-%: environment ## A sample of them, as many as there is time for in so many seconds: make mutants-120
	$(PYTHON) -m tools.mutants --seconds $* --seed $(or $(SEED),0)

moving-picture: environment ## docs/images/walking.webp; with a humanoid: make moving-picture HUMANOID=g1.xml
	$(PYTHON) -m demo.moving $(if $(HUMANOID),--humanoid "$(HUMANOID)" --called "$(or $(CALLED),humanoid)")

reachy-daemon: ## Reachy Mini's own daemon in .cache/reachy-daemon, with which tests/servo/reachy then plays
	python3 -m venv .cache/reachy-daemon && .cache/reachy-daemon/bin/pip install -q --no-deps -r requirements/reachy-daemon.txt

test-installed: environment ## The tests in Blender's module, with the built zip installed
	$(BESIDE) $(PYTHON) -m pytest -q $(TOLD) --durations=20 --durations-min=3 tests/blender

test-blender: ## The tests in Blender's module on Blender 4.2, 4.5, 5.0 and 5.2 (one of them: make test-blender-4.2)
	@$(MAKE) --no-print-directory --keep-going $(BLENDERS:%=test-blender-%)

$(ENVIRONMENTS): environment-%:
	@tools/environment .cache/blender-$* $*

test-blender-%: environment-%
	.cache/blender-$*/bin/python -m pytest -q --durations=20 --durations-min=3 tests/blender

# In two processes: in one, Blender 4.2 crashes after some ninety tests, as it frees the nodes of a dependency graph (docs/development.md).
test-blender-4.2: environment-4.2
	.cache/blender-4.2/bin/python -m pytest -q --durations=20 --durations-min=3 $(SELECTED) tests/blender/test_[a-c]*.py
	.cache/blender-4.2/bin/python -m pytest -q --durations=20 --durations-min=3 $(SELECTED) tests/blender/test_[d-z]*.py

most-blender-4.2: SELECTED := -m "not long and not one_blender"
most-blender-4.2: test-blender-4.2 ## The same on Blender 4.2, but for tests that say the same on every Blender

smoke-installed: environment ## Some of the tests in Blender's module, one or two of each thing that versions of Blender do differently
	$(PYTHON) -m pytest -q $(SMOKE) -k "not $(NOT_BLENDERS) and not first_bake and not newer_zip"

smoke-blender-%: environment-% ## The same on Blender 4.2, 4.5, 5.0 or 5.2
	.cache/blender-$*/bin/python -m pytest -q $(SMOKE) -k "not $(NOT_BLENDERS)"

test-gui: ## A walk through real Blender windows, 4.3 and 5.2, in Debians of their own below .cache/ (as root, on Debian)
	@$(MAKE) --no-print-directory --keep-going test-gui-4.3 test-gui-5.2

test-gui-%: environment
	tests/gui/run $* arriving .cache/gui/pictures-$*
	tests/gui/run $* walkthrough .cache/gui/pictures-$*

pictures: environment ## The pictures of panels, overlays, tutorial and physics in docs/images, taken again in such windows
	tests/gui/run 5.2 pictures docs/images
	tests/gui/run 5.2 physics docs/images

extension: environment ## dist/*.zip for this platform (others: make extension PLATFORM=windows-x64, or all)
	$(PYTHON) -m tools.extension $(if $(PLATFORM),--platform $(PLATFORM))

kernels: extension ## The compiled code of the zips, for tests with NUMBA_CPU_NAME=generic, which then compile little
	$(PYTHON) -m tools.compiled

release: environment ## A release in dist/: wheels, sources, the zips of all platforms, notes; checked as the package index and Blender check it
	@[ requirements/release.txt -ot .cache/release/.made ] || { python3 -m venv --clear .cache/release && \
	  .cache/release/bin/pip install -q --no-compile -r requirements/release.txt && touch .cache/release/.made; }
	$(PYTHON) -m tools.release

lint: environment ## Ruff and mypy
	.venv/bin/ruff check .; ruff=$$?; tools/check-types && exit $$ruff

docs: ## The documentation as a site, in .cache/site
	@[ -x .cache/docs/bin/mkdocs ] && [ requirements/docs.txt -ot .cache/docs/.made ] || { \
	  { command -v uv >/dev/null && python3 -m venv --clear --without-pip .cache/docs && \
	    UV_CACHE_DIR=.cache/uv uv pip install -q --python .cache/docs/bin/python -r requirements/docs.txt 2>/dev/null; } || \
	  { python3 -m venv --clear .cache/docs && .cache/docs/bin/pip install -q --no-compile -r requirements/docs.txt; }; } && \
	  touch .cache/docs/.made
	NO_MKDOCS_2_WARNING=1 .cache/docs/bin/mkdocs build --quiet --strict

bench: environment ## Milliseconds per frame of the solver on the robots that ship
	.venv/bin/robik bench

survey: environment ## What becomes of every robot file below folders, as MuJoCo and pinocchio see them: make survey FOLDERS="A B"
	$(PYTHON) -m tools.survey $(FOLDERS)

peers: environment ## RobIK beside mink, pink and PlaCo, which go into .cache/
	@experiments/peers/environments
	$(PYTHON) -m experiments peers --full

peers-retargeting: environment ## RobIK beside mink with the weights of GMR, on G1: one run, a table; needs ../shared/data
	@experiments/peers/environments peers
	$(PYTHON) -m experiments peers-retargeting

clean: ## Takes away what was made, but .venv
	rm -rf .cache dist out build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
