# The two commands: `make train` and `make test`. Everything they need is set up on first use.
BUILD  ?= build
JOBS   ?= $(shell nproc)
CMAKE_FLAGS ?=

.PHONY: help setup build train test test-release test-sanitized test-sanitizers test-address test-thread bench peers format format-check tidy install clean
help:
	@echo "make train            set up, build, and train Fashion-MNIST over two CPU devices"
	@echo "make test             set up, build, run every test, and the tests of some layers under sanitizers"
	@echo "make test-release     every test without sanitizers"
	@echo "make test-sanitizers  all layers under AddressSanitizer and UndefinedBehaviorSanitizer, what has threads under ThreadSanitizer"
	@echo "make bench            measure against the bare C API (and JAX, Lightning after 'make peers')"
	@echo "make setup            only the set-up: Debian packages, pinned PJRT plugins and headers"
	@echo "make build            set up and build"
	@echo "make format-check, make tidy   what the code must pass; make format mends the layout"
	@echo "make install          install the library, the tool and the CPU plugin (DESTDIR, CMAKE_FLAGS)"

setup:
	@scripts/setup.sh

build: setup
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS)

train: setup
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target lockstep_tool
	@$(BUILD)/lockstep train fashion-mnist --accelerator cpu --cpu-devices 2 --devices auto $(TRAIN_FLAGS)

test: test-release test-sanitized

test-release: build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# -O1: own code only is instrumented, and compiling is what takes the time.
SANITIZER_FLAGS = -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 \
  -DLOCKSTEP_PJRT_DIR=$(abspath $(BUILD))/pjrt \
  -DLOCKSTEP_BUILD_TOOL=OFF -DLOCKSTEP_BUILD_EXAMPLES=OFF -DLOCKSTEP_BUILD_BENCH=OFF
ADDRESS_FLAGS = $(SANITIZER_FLAGS) -DLOCKSTEP_SANITIZE=address,undefined
THREAD_FLAGS = $(SANITIZER_FLAGS) -DLOCKSTEP_SANITIZE=thread
# The layers that handle raw memory, and those that have threads of their own (the loader, the trainer).
ADDRESS_LAYERS = base tree pjrt array data
THREAD_LAYERS = data train
tests_of = $(addsuffix _tests,$(1))
empty :=
pattern_of = '^($(subst $(empty) $(empty),|,$(strip $(1))))$$'

# Part of `make test`: what is worth its time in every run.
test-sanitized: setup
	@cmake -S . -B $(BUILD)/address $(ADDRESS_FLAGS)
	@cmake --build $(BUILD)/address -j $(JOBS) --target $(call tests_of,$(ADDRESS_LAYERS))
	@ctest --test-dir $(BUILD)/address --output-on-failure -R $(call pattern_of,$(ADDRESS_LAYERS))
	@$(MAKE) --no-print-directory test-thread

test-sanitizers: test-address test-thread

test-address: setup
	@cmake -S . -B $(BUILD)/address $(ADDRESS_FLAGS)
	@cmake --build $(BUILD)/address -j $(JOBS)
	@ctest --test-dir $(BUILD)/address --output-on-failure

test-thread: setup
	@cmake -S . -B $(BUILD)/thread $(THREAD_FLAGS)
	@cmake --build $(BUILD)/thread -j $(JOBS) --target $(call tests_of,$(THREAD_LAYERS))
	@ctest --test-dir $(BUILD)/thread --output-on-failure -R $(call pattern_of,$(THREAD_LAYERS))

# Not what scripts write: tables of expected numbers.
FORMATTED = git ls-files '*.h' '*.cc' ':!tests/*/expected_*.h' ':!tests/data/numpy_files.h'
format:
	@$(FORMATTED) | xargs clang-format-16 -i --style=file

format-check:
	@$(FORMATTED) | xargs clang-format-16 --dry-run -Werror --style=file

tidy: build
	@git ls-files 'src/*.cc' 'cli/*.cc' | xargs -P $(JOBS) -n 4 clang-tidy-16 -p $(BUILD) --quiet

bench: build
	@bench/run.sh $(BUILD)

peers:
	@bench/setup_peers.sh $(BUILD)

install: build
	@cmake --install $(BUILD)

clean:
	@rm -rf $(BUILD)
