# A thin front; CMake and its presets do the work. `make help` lists the targets.
JOBS ?= $(shell nproc)
PROGRAM := build/release/bin/semicrf
DEMO_OUT := build/demo
DEMO_TRACKS := $(sort $(wildcard data/codon_*.bw))
DEMO_PARAMS := data/demo.params.json

SOURCES = $$(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')
# A new build folder compiles several sources as one, which takes half the time; one that exists keeps its choice.
CONFIGURE := cmake --preset release $(if $(wildcard build/release/CMakeCache.txt),,-DSEMICRF_UNITY=ON)
# Where there is no GPU, make demo leaves the CUDA engine out: its kernels take most of a build.
HAS_GPU := nvidia-smi -L 2>/dev/null | grep -q '^GPU' || test -e /dev/nvidia0

.PHONY: help packages build build-sanitized demo demo-program package portable test bench paper paper-small lab format check-format lint clean

help:
	@echo 'make demo    build the program, then decode, posterior, eval, train and report on the tracks in data/'
	@echo 'make test    build everything, then run all tests, the unit tests under sanitizers, the readers under a fuzzer'
	@echo 'make build   build everything; the program is $(PROGRAM)'
	@echo 'make package a Debian package of the program, build/release/semicrf_VERSION-1_ARCH.deb'
	@echo 'make portable an archive that runs on other distributions, build/portable/semicrf-VERSION-linux-ARCH.tar.xz'
	@echo 'make bench   measure speed and accuracy on this machine, JSON lines'
	@echo 'make paper   the tables and pictures of docs/paper.md, build/paper/, at the sizes of the paper: half an hour'
	@echo 'make paper-small  the same at sizes that take two minutes, and the build'
	@echo 'make format  lay out all sources with clang-format'
	@echo 'make lint    check the layout, and run clang-tidy over all sources'
	@echo 'make clean   remove build/'
	@echo
	@echo 'SEMICRF_CUDA=ON, OFF or AUTO (default: where nvcc is found) builds the CUDA engine or not;'
	@echo 'make demo builds it only where a GPU is seen. CUDAARCHS=90 names the GPU architectures.'

packages:
	@cmake/install_packages.sh

build: packages
	$(CONFIGURE) -DSEMICRF_CUDA=$(or $(SEMICRF_CUDA),AUTO) $(WITH_LAB)
	cmake --build --preset release --parallel $(JOBS)

# With sanitizers: the unit tests and, where clang++ is installed (apt-packages-fuzz.txt), the readers under its fuzzer.
SANITIZED := $(if $(shell command -v clang++),fuzz,asan)
build-sanitized: packages
	cmake --preset $(SANITIZED)
	cmake --build --preset $(SANITIZED) --parallel $(JOBS) --target unit_tests $(if $(filter fuzz,$(SANITIZED)),fuzzers)

# The program alone. A build folder that exists keeps its choice of the CUDA engine, too.
demo-program: packages
	@if [ -n "$(SEMICRF_CUDA)" ]; then $(CONFIGURE) -DSEMICRF_CUDA=$(SEMICRF_CUDA); \
	elif [ -e build/release/CMakeCache.txt ] || { $(HAS_GPU); }; then $(CONFIGURE); \
	else \
	  echo 'No GPU is seen: the CUDA engine is left out. make build builds it; SEMICRF_CUDA=ON does here, too.'; \
	  $(CONFIGURE) -DSEMICRF_CUDA=OFF; \
	fi
	cmake --build --preset release --parallel $(JOBS) --target semicrf

# CPack strips the program and asks dpkg-shlibdeps for its dependencies. The tests are in tests/package.
package: demo-program
	cmake --build --preset release --target manual
	cd build/release && cpack

portable: packages
	cmake --preset portable
	cmake --build --preset portable --parallel $(JOBS)
	cd build/portable && cpack

demo: demo-program
	@mkdir -p $(DEMO_OUT)
	$(PROGRAM) decode -p $(DEMO_PARAMS) -o $(DEMO_OUT)/segments.bed $(DEMO_TRACKS)
	$(PROGRAM) posterior -p $(DEMO_PARAMS) -o $(DEMO_OUT)/boundaries.bedgraph --labels-out $(DEMO_OUT)/labels $(DEMO_TRACKS)
	$(PROGRAM) eval --truth data/genes.bed -o $(DEMO_OUT)/evaluation.txt $(DEMO_OUT)/segments.bed
	@echo
	@echo 'Segments, $(DEMO_OUT)/segments.bed:'
	@grep -v '^#' $(DEMO_OUT)/segments.bed | head -n 8
	@echo
	@echo 'Boundary posterior, $(DEMO_OUT)/boundaries.bedgraph:'
	@grep -v '^#' $(DEMO_OUT)/boundaries.bedgraph | head -n 8
	@echo
	@echo 'Agreement with the annotation, $(DEMO_OUT)/evaluation.txt:'
	@head -n 18 $(DEMO_OUT)/evaluation.txt
	$(PROGRAM) train -q -x cpu --labels data/genes.bed -b 3 --max-iterations 30 -o $(DEMO_OUT)/trained.json $(DEMO_TRACKS)
	$(PROGRAM) decode -q -p $(DEMO_OUT)/trained.json -o $(DEMO_OUT)/trained.bed $(DEMO_TRACKS)
	$(PROGRAM) eval --truth data/genes.bed -o $(DEMO_OUT)/trained_evaluation.txt $(DEMO_OUT)/trained.bed
	@echo
	@echo 'Agreement of a decode with parameters learned from these 30 kb, $(DEMO_OUT)/trained.json:'
	@sed -n '7,10p' $(DEMO_OUT)/trained_evaluation.txt
	$(PROGRAM) report -q -p $(DEMO_PARAMS) --segments $(DEMO_OUT)/segments.bed --posterior $(DEMO_OUT)/boundaries.bedgraph \
	  --labels-posterior $(DEMO_OUT)/labels --truth data/genes.bed -o $(DEMO_OUT)/report.html $(DEMO_TRACKS)
	@echo
	@echo 'All of it on one page, to open in a browser: $(DEMO_OUT)/report.html'

# The tests make every table of docs/paper.md in its small form, too.
test: WITH_LAB := -DSEMICRF_LAB=ON
# All suites run, whatever the first one says; the full suite comes last, so its summary ends the output.
test: build build-sanitized
	@status=0; \
	ctest --preset $(SANITIZED) -L 'unit|fuzz' --parallel $(JOBS) || status=1; \
	ctest --preset release --parallel $(JOBS) || status=1; \
	exit $$status

bench: build
	$(PROGRAM) bench

# The laboratory (tests/lab): two more programs of the release build where that is there, else a build of its own without tests;
# without its packages the speech experiment is left out.
PAPER := build/paper
LAB := $(if $(wildcard build/release/bin/semicrf),release,lab)
lab: packages
	@cmake/install_packages.sh apt-packages-lab.txt || true
	$(if $(filter lab,$(LAB)),cmake --preset lab -DSEMICRF_CUDA=$(or $(SEMICRF_CUDA),$(shell { $(HAS_GPU); } && echo AUTO || echo OFF)))
	cmake --build --preset $(LAB) --parallel $(JOBS) --target lab

paper: lab
	python3 -B tests/lab/paper.py --program build/$(LAB)/bin/semicrf-lab --out $(PAPER) --full

paper-small: lab
	python3 -B tests/lab/paper.py --program build/$(LAB)/bin/semicrf-lab --out $(PAPER)

format:
	clang-format -i $(SOURCES)

check-format:
	clang-format --dry-run -Werror $(SOURCES)

# Without nvcc the tests compile the kernels as C++ for their emulated device, which clang-tidy can read, too.
lint: check-format
	cmake -S . -B build/lint -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
	  -DSEMICRF_CUDA=OFF -DSEMICRF_FUZZ=ON -DSEMICRF_BENCHMARKS=ON -DSEMICRF_LAB=ON
	python3 -B cmake/lint.py -p build/lint -j $(JOBS)

clean:
	rm -rf build
