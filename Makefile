PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
EXTRAS := dev,build,bench,torch,tf,neighbours,checkpoint,export,onnx,iree
# One process more than processors, as a test often waits for a program that it has started. Each
# test file is in one, the longest (tests/conftest.py) first.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min(4, os.cpu_count() + 1))')
SPREAD := --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

# What runs a second time with the sources of the hot path instead of its binaries. Left out are
# the tests of modules that are never compiled, and those that choose between the two themselves.
NOT_PURE := binaries bucketing disk imports malloc settings sharding
PURE := $(filter-out $(NOT_PURE:%=tests/core/test_%.py),$(wildcard tests/core/test_*.py)) \
	tests/inspection/test_reuse.py tests/numpy/test_small_by_now.py \
	tests/numpy/test_threads.py tests/pytorch/test_strides.py tests/pytorch/test_boxed.py

# What runs a third time, on a device whose memory is not the host's.
APART := tests/core/test_cell.py tests/core/test_cutting.py tests/core/test_donation.py \
	tests/core/test_in_place.py tests/core/test_specialize.py tests/exchange/test_exchange.py \
	tests/pytorch/test_aliasing.py

.PHONY: binaries demo test test-all fuzz array-api accelerators apart bench docs lint clean

demo: binaries
	$(BIN)/python -m lazytensor demo

bench: binaries
	$(BIN)/python -m benchmarks

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

# Ends after 45 minutes whatever happens, on the slowest machines; one test has as long as `timeout` in pyproject.toml says.
test: lint binaries
	HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest --session-timeout=2700 $(SPREAD)
	LAZYTENSOR_PURE=1 HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest $(SPREAD) $(PURE)
	LAZYTENSOR_TESTS_APART=1 HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest $(SPREAD) $(APART)

# Some eighty times as many random programs, and every sweep whole.
test-all: lint binaries
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest --timeout=7200
	$(MAKE) apart
	$(BIN)/python -m tests.fuzz

# Random programs, 100,000 lines of them, with NumPy and with ours in step.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz

# The pages of docs/, into the folder site; a link that leads nowhere is an error.
docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[docs]'
	$(BIN)/mkdocs build --strict

# The array API standard's tests, from the checkout that ARRAY_API_TESTS names.
array-api: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[array-api]'
	$(BIN)/python -m pytest tests/array_api

# Compiles programs for an H100 and a TPU v5e, neither of which is needed. The compilers lie in a
# folder of their own: where jax finds a plugin, it looks for the device.
accelerators: binaries
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target $(VENV)/accelerators $$($(BIN)/python -m tests.accelerators.plugins)
	PYTHONPATH=$(VENV)/accelerators JAX_PLATFORMS=cpu LAZYTENSOR_PLATFORM=cpu \
		$(BIN)/python -m pytest tests/accelerators

# The suite with XLA on a CPU as a device whose memory is not the host's.
apart: binaries
	LAZYTENSOR_TESTS_APART=1 HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest $(SPREAD)

# The stamp is written last, so a set-up that was interrupted is taken up again by the next command.
# Python compiles what is imported: to compile all packages takes a minute and a half.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--constraint constraints.txt --editable '.[$(EXTRAS)]'
	touch $@

# Compiles the hot path and torch's kernel if a source has changed. Without a compiler they run as
# Python.
binaries: $(STAMP)
	$(BIN)/python -m lazytensor build || true

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist site demo-pictures
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find lazytensor -name '*.so' -delete
	rm -f lazytensor/binaries.json
