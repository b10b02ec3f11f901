# A thin front; CMake and its presets do the work. `make help` lists the targets.
JOBS ?= $(shell nproc)
PROGRAM := build/release/bin/semicrf
DEMO_OUT := build/demo
DEMO_TRACKS := $(sort $(wildcard data/codon_*.bw))
DEMO_PARAMS := data/demo.params.json

.PHONY: help packages build build-asan build-fuzz demo test bench format clean

help:
	@echo 'make demo    build, then decode, posterior, eval and train on the tracks in data/'
	@echo 'make test    build, then all tests, the unit tests under sanitizers, and the readers under a fuzzer'
	@echo 'make build   the program only: $(PROGRAM)'
	@echo 'make bench   speed and accuracy on this machine, JSON lines'
	@echo 'make format  clang-format over the C++ files'
	@echo 'make clean   remove build/'

packages:
	@cmake/install_packages.sh

build: packages
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

# Only the unit tests are built with sanitizers; the rest of the tree is not needed for them.
build-asan: packages
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS) --target unit_tests

# The readers under clang's fuzzer.
build-fuzz: packages
	@if ! command -v clang++ >/dev/null; then \
	  echo 'skipped: clang++ is not installed (apt-packages-fuzz.txt), so the readers are not fuzzed'; \
	else cmake --preset fuzz && cmake --build --preset fuzz --parallel $(JOBS) --target fuzzers; fi

demo: packages
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target semicrf
	@mkdir -p $(DEMO_OUT)
	$(PROGRAM) decode -p $(DEMO_PARAMS) -o $(DEMO_OUT)/segments.bed $(DEMO_TRACKS)
	$(PROGRAM) posterior -p $(DEMO_PARAMS) -o $(DEMO_OUT)/boundaries.bedgraph $(DEMO_TRACKS)
	$(PROGRAM) eval --truth data/genes.bed -o $(DEMO_OUT)/evaluation.txt $(DEMO_OUT)/segments.bed
	@echo
	@echo 'Segments, $(DEMO_OUT)/segments.bed:'
	@grep -v '^#' $(DEMO_OUT)/segments.bed | head -n 8
	@echo
	@echo 'Boundary posterior, $(DEMO_OUT)/boundaries.bedgraph:'
	@grep -v '^#' $(DEMO_OUT)/boundaries.bedgraph | head -n 8
	@echo
	@echo 'Agreement with the annotation, $(DEMO_OUT)/evaluation.txt:'
	@head -n 17 $(DEMO_OUT)/evaluation.txt
	$(PROGRAM) train -q -x cpu --labels data/genes.bed -b 3 --max-iterations 30 -o $(DEMO_OUT)/trained.json $(DEMO_TRACKS)
	$(PROGRAM) decode -q -p $(DEMO_OUT)/trained.json -o $(DEMO_OUT)/trained.bed $(DEMO_TRACKS)
	$(PROGRAM) eval --truth data/genes.bed -o $(DEMO_OUT)/trained_evaluation.txt $(DEMO_OUT)/trained.bed
	@echo
	@echo 'The same with parameters learned from these 30 kb, $(DEMO_OUT)/trained.json:'
	@sed -n '6,9p' $(DEMO_OUT)/trained_evaluation.txt

# All suites run, whatever the first one says; the full suite comes last, so its summary ends the output.
test: build build-asan build-fuzz
	@status=0; \
	ctest --preset asan -L unit --parallel $(JOBS) || status=1; \
	if command -v clang++ >/dev/null; then ctest --preset fuzz -L fuzz --parallel $(JOBS) || status=1; fi; \
	ctest --preset release --parallel $(JOBS) || status=1; \
	exit $$status

bench: build
	$(PROGRAM) bench

format:
	clang-format -i $$(git ls-files '*.h' '*.cpp')

clean:
	rm -rf build
