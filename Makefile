# portfolio-bot: `make` prints this list. Variables: PROFILE=default|tiny|nomic|3b, PORT=, CHAT_PORT=,
# EMBED_PORT=, MODELS_DIR=, PYTHON=, LLAMA_SERVER= (a llama-server you have).
.DEFAULT_GOAL := help
SHELL := /bin/sh

PROFILE ?= default
PORT ?= 7331
CHAT_PORT ?= 7332
EMBED_PORT ?= 7333
MODELS_DIR ?= models/files
VENV ?= .venv
UV_VERSION := 0.13.9

PY := $(VENV)/bin/python
# A stamp for each set of requirements: another lock file or another place is another environment.
LOCKED := $(wildcard requirements/*.txt packages/*/pyproject.toml services/*/pyproject.toml)
STATE := $(shell { pwd; cat $(LOCKED); } | cksum | cut -d' ' -f1)
RUNTIME := $(VENV)/.runtime-$(STATE)
DEV := $(VENV)/.dev-$(STATE)
# Runs a program with the settings of the profile's models, the same that `make demo` uses.
WITH_MODELS = $(PY) -m native.with_models --profile $(PROFILE) --dir $(MODELS_DIR) --port $(PORT) \
	--chat-port $(CHAT_PORT) --embed-port $(EMBED_PORT) --states var/states --
TYPED := packages/corpus services/indexer services/bot models native bench scripts
# Through the environment: a question may hold quotes and dollar signs.
export Q
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Is the stack of compose.yaml up? Then its own containers do the work, and nothing but Docker is needed.
STACK_RUNS = command -v docker >/dev/null && \
	[ -n "$$(docker compose ps --quiet --status running bot 2>/dev/null)" ]

.PHONY: help demo models index reindex ask warm serve up down logs ps test test-models test-containers \
	test-faults check fmt docs lock doctor clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUNTIME) ## everything from nothing to a bot that answers; Ctrl-C stops it
	@exec $(PY) -m native.demo --profile $(PROFILE) --dir $(MODELS_DIR) --port $(PORT) \
		--chat-port $(CHAT_PORT) --embed-port $(EMBED_PORT)

models: $(RUNTIME) ## fetch and check the models of PROFILE
	@exec $(PY) -m models.fetch --profile $(PROFILE) --dir $(MODELS_DIR)

index: $(RUNTIME) ## index the content again; the embedding server of `make demo` must run
	@exec $(WITH_MODELS) $(PY) -m indexer

reindex: ## index the content again: of the containers where they run (`make up`), else the same as index
	@if $(STACK_RUNS); then \
		echo 'the stack in containers runs: its indexer does it' >&2; \
		exec docker compose run --rm --no-deps -T indexer chat-bot-index; \
	else \
		echo 'no stack in containers runs: the indexer of this machine does it' >&2; \
		exec $(MAKE) --no-print-directory index; \
	fi

ask: ## ask one question, the containers where they run: make ask Q="What is Trama?"
	@test -n "$$Q" || { echo 'which question? make ask Q="What is Trama?"' >&2; exit 2; }
	@if $(STACK_RUNS); then \
		echo 'the stack in containers runs: its bot is asked' >&2; \
		exec docker compose exec -T bot chat-bot ask -- "$$Q"; \
	else \
		echo 'no stack in containers runs: the bot of this machine is asked' >&2; \
		exec $(MAKE) --no-print-directory ask-here; \
	fi

# `ask` where no stack runs.
.PHONY: ask-here
ask-here: $(RUNTIME)
	@exec $(WITH_MODELS) $(VENV)/bin/chat-bot ask -- "$$Q"

warm: ## evaluate every page now, with a progress bar; of the containers where they run
	@if $(STACK_RUNS); then \
		exec docker compose exec bot chat-bot warm; \
	else \
		exec $(MAKE) --no-print-directory warm-here; \
	fi

# `warm` where no stack runs.
.PHONY: warm-here
warm-here: $(RUNTIME)
	@exec $(WITH_MODELS) $(VENV)/bin/chat-bot warm

serve: $(RUNTIME) ## the bot alone, against model servers that run already
	@exec $(WITH_MODELS) $(VENV)/bin/chat-bot serve --port $(PORT)

up: ## the whole stack in containers, in the background; ready when it returns
	@docker compose up --build --detach --wait
	@docker compose logs --no-log-prefix gateway | grep 'is ready' | tail -n 1

down: ## stop and remove the containers; models, index and certificates stay
	@docker compose down

logs: ## follow what the containers say
	@docker compose logs --follow --tail 50

ps: ## the containers and how they are
	@docker compose ps --all

test: $(DEV) ## run the tests with coverage; needs neither Docker nor models
	@exec $(PY) -m pytest --cov --cov-report=term --cov-fail-under=85

test-models: $(DEV) ## fetch the models and llama-server, run the tests that need them
	@for profile in tiny default; do $(PY) -m models.fetch --profile $$profile --dir $(MODELS_DIR) || exit; done
	@LLAMA_SERVER="$$($(PY) -m native.llama_server)" && export LLAMA_SERVER && \
		exec $(PY) -m pytest -m models

test-containers: $(DEV) ## start a Docker engine where none runs, test the stack in it
	@.ci/docker/engine.sh && .ci/docker/compose.sh && .ci/docker/base_images.sh
	@exec env PORTFOLIO_BOT_CONTAINERS=1 $(PY) -m pytest -m "container and not faults" tests/containers

test-faults: $(DEV) ## break each part of the stack on purpose: kills, full disks, cut networks
	@.ci/docker/engine.sh && .ci/docker/compose.sh && .ci/docker/base_images.sh
	@exec env PORTFOLIO_BOT_CONTAINERS=1 $(PY) -m pytest -m faults tests/containers

check: $(DEV) ## linter, formatter, strict types, import direction, docs, lock files
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --strict $(TYPED)
	$(PY) -m scripts.check_locks
	$(PY) -m pytest -q tests/architecture tests/docs

fmt: $(DEV) ## format the code and fix what the linter can fix
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(DEV) ## write docs/configuration.md and docs/cli.md anew from the code
	$(PY) -m scripts.generate_docs

lock: $(DEV) ## resolve requirements/*.in into lock files with hashes; needs the network
	$(PY) -m pip install --quiet uv==$(UV_VERSION)
	for kind in runtime dev; do $(PY) -m uv pip compile --universal --python-version 3.11 \
		--generate-hashes --no-header --quiet requirements/$$kind.in -o requirements/$$kind.txt \
		|| exit 1; done

doctor: ## look for what could stop `make demo` or `make up`; one line each, with the cure
	@code=0; python=$$(sh scripts/find_python.sh) && "$$python" -m native.preflight --profile $(PROFILE) \
		--port $(PORT) --chat-port $(CHAT_PORT) --embed-port $(EMBED_PORT) || code=$$?; \
		sh scripts/doctor_docker.sh || code=$$?; exit $$code

clean: ## remove caches, logs, the index and the virtual environment; models stay
	rm -rf $(VENV) var .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.*
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(RUNTIME):
	@sh scripts/make_venv.sh $(VENV) runtime $@

$(DEV):
	@sh scripts/make_venv.sh $(VENV) dev $@
	@touch $(RUNTIME)
