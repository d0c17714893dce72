# The two commands: `make train` and `make test`. Everything they need is set up on first use.
BUILD  ?= build
JOBS   ?= $(shell nproc)
CMAKE_FLAGS ?=

.PHONY: help setup build train test test-release test-sanitizers test-address test-thread bench peers format format-check tidy install clean
help:
	@echo "make train            set up, build, and train Fashion-MNIST over two CPU devices"
	@echo "make test             set up, build, and run every test"
	@echo "make test-sanitizers  the tests under AddressSanitizer and UndefinedBehaviorSanitizer, and what has threads under ThreadSanitizer"
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

test: test-release

test-release: build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

test-sanitizers: test-address test-thread

# -O1: own code only is instrumented, and compiling is what takes the time.
SANITIZER_FLAGS = -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 -DLOCKSTEP_PJRT_DIR=$(abspath $(BUILD))/pjrt \
  -DLOCKSTEP_BUILD_TOOL=OFF -DLOCKSTEP_BUILD_EXAMPLES=OFF -DLOCKSTEP_BUILD_BENCH=OFF

test-address: setup
	@cmake -S . -B $(BUILD)/address $(SANITIZER_FLAGS) -DLOCKSTEP_SANITIZE=address,undefined
	@cmake --build $(BUILD)/address -j $(JOBS)
	@ctest --test-dir $(BUILD)/address --output-on-failure

# What has threads of its own: the loader and the trainer.
test-thread: setup
	@cmake -S . -B $(BUILD)/thread $(SANITIZER_FLAGS) -DLOCKSTEP_SANITIZE=thread
	@cmake --build $(BUILD)/thread -j $(JOBS) --target data_tests train_tests
	@ctest --test-dir $(BUILD)/thread --output-on-failure -R '^(data|train)$$'

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
