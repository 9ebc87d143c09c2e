# What there is to do in a checkout. Each target sets up what it needs, and does so only once.
PYTHON := .venv/bin/python
BLENDERS := 4.2 4.5 5.0 5.2

.PHONY: help environment demo test test-library test-installed test-blender test-gui extension lint bench peers clean
.DEFAULT_GOAL := help

help: ## This list
	@sed -n 's/^\([a-z%.-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | expand -t 18

environment: ## .venv with Blender's module and all that is pinned in requirements/
	@tools/environment .venv

demo: environment ## The walker walks, with balance and servos: out/; or a recording of yours: make demo BVH=file
	$(PYTHON) -m demo.run $(if $(BVH),--bvh "$(BVH)")

test: environment ## All tests, on one Blender
	@$(MAKE) --no-print-directory --keep-going test-library test-installed

test-library: environment ## The library's tests
	$(PYTHON) -m pytest -q tests

test-installed: environment ## The tests in Blender's module, with the built zip installed
	$(PYTHON) -m pytest -q tests/blender

test-blender: ## The tests in Blender's module on Blender 4.2, 4.5, 5.0 and 5.2 (one of them: make test-blender-4.2)
	@$(MAKE) --no-print-directory --keep-going $(BLENDERS:%=test-blender-%)

test-blender-%:
	@tools/environment .cache/blender-$* $*
	.cache/blender-$*/bin/python -m pytest -q tests/blender

test-gui: environment ## A walk through a real Blender window, in a Debian of its own below .cache/ (as root, on Debian)
	tests/gui/run "$$($(PYTHON) -m tools.extension --platform linux-x64 --python 3.13 | cut -d ' ' -f 1)"

extension: environment ## dist/*.zip for this platform (others: make extension PLATFORM=windows-x64, or all)
	$(PYTHON) -m tools.extension $(if $(PLATFORM),--platform $(PLATFORM))

lint: environment ## Ruff and mypy
	.venv/bin/ruff check .; ruff=$$?; tools/check-types && exit $$ruff

bench: environment ## Milliseconds per frame of the solver
	.venv/bin/robik bench

peers: environment ## RobIK beside mink, pink and PlaCo, which go into .cache/
	@benchmarks/peers/environments
	$(PYTHON) -m benchmarks.peers

clean: ## Takes away what was made, but .venv
	rm -rf .cache dist out build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
