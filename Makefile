# Thin: each target is one command that can be run by hand. `make help` lists them.
BUILD := build/release
JOBS ?= $(shell nproc)
PROGRAMS := assay assay-engine

.DEFAULT_GOAL := help
.PHONY: help package eval test test-clients test-pipelines test-slurm hip build deps deps-test format check asan bench clean

help:
	@echo "make eval    install what is missing, build, run configs/cpu/tiny-moe.yaml and write a report under out/"
	@echo "make test    install what is missing, build, run every test"
	@echo "make test-clients   the openai client and lm-evaluation-harness, pinned, from PyPI, against the engine"
	@echo "make test-pipelines pipelines, shipped and emitted, against the schemas of their services, from PyPI"
	@echo "make test-slurm     a fleet of cells on a Slurm cluster on loopback; as root, installs munge and slurm-wlm"
	@echo "make hip     compile every GPU kernel for AMD, three chips, and look at the code; compilers from Debian and PyPI"
	@echo "make build   build only"
	@echo "make check   layers and formatting"
	@echo "make asan    the tests under AddressSanitizer and UBSan"
	@echo "make bench   what the client of the serving benchmark can do: chunks a second, streams, time stamps"
	@echo "make package a .deb and a tarball of both programs, configs and the bundled model, under build/package"
	@echo "make format  reformat the sources"
	@echo "ASSAY_INSTALL=no make ...   never install; print the missing packages and stop"

deps:
	@bash ci/install.sh ci/packages.txt

deps-test:
	@bash ci/install.sh ci/packages.txt ci/packages-test.txt

build: deps
	@bash ci/run.sh build

eval: build
	@$(BUILD)/bin/assay run configs/cpu/tiny-moe.yaml --suite smoke

package: deps
	@bash ci/run.sh package

test: deps-test
	@bash ci/run.sh test

test-clients: deps-test
	@bash ci/run.sh test-clients

test-pipelines: deps-test
	@bash ci/run.sh test-pipelines

test-slurm:
	@bash ci/install.sh ci/packages.txt ci/packages-test.txt
	@bash ci/install.sh ci/packages-slurm.txt || echo "no Slurm: its test will be skipped"
	@bash ci/run.sh test-slurm

hip:
	@bash ci/install.sh ci/packages-hip.txt || echo "not all compilers for AMD could be installed: what is missing is named below"
	@bash ci/run.sh hip

check: deps-test
	@bash ci/run.sh check

asan: deps-test
	@bash ci/run.sh asan

bench: deps-test
	@bash ci/run.sh bench

format: deps-test
	@git ls-files '*.h' '*.cc' '*.hip' | xargs clang-format -i

clean:
	rm -rf build out
