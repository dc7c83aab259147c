"""What each container may do: user, rights, disk, memory, network, secrets (C1-C9, E1, E10, E11)."""

from __future__ import annotations

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import JOBS, ROOT, SERVICES, Stack, docker, published

OURS = ("bot", "gateway", "indexer", "models")
GIGABYTE = 1e9
SUM_LIMITS = {"tiny": 3.5, "default": 6.0, "3b": 7.5}
MAY_REACH = {
    ("gateway", "bot"),
    ("bot", "chat"),
    ("bot", "embed"),
    ("bot", "redis"),
    ("chat", "embed"),
}
"""Pairs of long-running services that share a network, in either direction."""
PLACES = (
    "/", "/app", "/bin", "/boot", "/config", "/data", "/dev", "/etc", "/etc/caddy", "/home", "/index",
    "/lib", "/media", "/models", "/mnt", "/opt", "/proc", "/root", "/run", "/run/redis", "/sbin", "/srv",
    "/sys", "/usr", "/usr/bin", "/usr/local/etc/redis", "/var", "/var/lib", "/var/log", "/var/tmp",
)  # fmt: skip
OWN_FOLDER = {"gateway": {"/data"}, "redis": {"/data"}}


def resolved(**environment: str) -> dict[str, Any]:
    """compose.yaml with these variables."""
    # The file itself, without what the tests add; --env-file keeps a developer's .env out of it.
    found: dict[str, Any] = json.loads(
        docker(
            "compose", "--project-directory", str(ROOT), "-f", str(ROOT / "compose.yaml"),
            "--env-file", os.devnull, "config", "--format", "json",
        ).stdout
        if not environment
        else _with(environment)
    )  # fmt: skip
    return found


def _with(environment: dict[str, str]) -> str:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        return json.dumps(resolved())
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def sizes() -> dict[str, dict[str, str]]:
    """The blocks of .env.example: variables by profile."""
    blocks: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in (ROOT / ".env.example").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"#(PROFILE|CHAT_MEMORY|EMBED_MEMORY)=(\S+)", line):
            if match[1] == "PROFILE":
                current = blocks.setdefault(match[2], {})
            current[match[1]] = match[2]
    return blocks


@pytest.mark.parametrize("profile", SUM_LIMITS)
def test_the_sum_of_memory_limits(engine: None, profile: str, figure: Figure) -> None:
    variables = {"CHAT_MEMORY": "2560m", "EMBED_MEMORY": "768m"} | sizes()[profile]
    services = resolved(**variables)["services"]
    limits = {name: int(service["mem_limit"]) for name, service in services.items()}
    swap = {name: int(service["memswap_limit"]) for name, service in services.items()}
    assert limits == swap, "swap would hide that a limit is too small"
    total = sum(limits.values()) / GIGABYTE
    assert total <= SUM_LIMITS[profile]
    figure(f"C5 sum of limits, {profile}", f"{total:.2f} GB (at most {SUM_LIMITS[profile]})")


def test_only_the_gateway_publishes_and_only_on_this_machine(stack: Stack, figure: Figure) -> None:
    config = json.loads(stack.run("config", "--format", "json").stdout)
    ports = published((*SERVICES, *JOBS), config)
    assert [name for name, found in ports.items() if found] == ["gateway"]
    bound = docker("ps", "--filter", f"label=com.docker.compose.project={config['name']}",
                   "--format", "{{.Ports}}").stdout  # fmt: skip
    addresses = re.findall(r"(\S+)->", bound)
    assert len(addresses) == 1
    assert addresses[0].startswith("127.0.0.1:")
    default = published((*SERVICES, *JOBS), resolved(SITE_ADDRESS="", PUBLISH="127.0.0.1:8080"))
    assert [port for found in default.values() for port in found] == ["127.0.0.1:8080"]
    public = resolved(SITE_ADDRESS="chat.example.com")
    ports_of = published((*SERVICES, *JOBS), public)
    assert {name: found for name, found in ports_of.items() if found} == {
        "gateway": ["0.0.0.0:80", "0.0.0.0:443"]
    }
    environment = public["services"]["gateway"]["environment"]
    assert environment == {
        "SITE_ADDRESS": "chat.example.com",
        "READY_AT": "https://chat.example.com",
    }
    figure(
        "E1 published", f"gateway {', '.join(ports['gateway'])}; the other {len(ports) - 1}: none"
    )


@pytest.mark.parametrize("service", SERVICES)
def test_a_plain_user_without_rights(stack: Stack, service: str, figure: Figure) -> None:
    status = stack.execute(service, "cat", "/proc/1/status").stdout
    found = dict(re.findall(r"^(\w+):\s+(.*)$", status, re.MULTILINE))
    assert found["Uid"].split()[0] != "0"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(found[kind], 16) == 0, kind
    assert found["NoNewPrivs"] == "1"
    assert found["Seccomp"] == "2"
    host = stack.inspect(service)["HostConfig"]
    assert host["Privileged"] is False
    assert host["PidMode"] == host["UTSMode"] == ""
    assert host["ReadonlyRootfs"] is True
    assert 0 < host["PidsLimit"] <= 128
    assert 0 < host["Memory"] == host["MemorySwap"]
    assert host["NanoCpus"] > 0
    assert host["LogConfig"]["Config"] == {"max-file": "3", "max-size": "10m"}
    assert {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]}["core"] == 0
    figure(f"C1 {service}", f"uid {found['Uid'].split()[0]}, no capability, seccomp, "
           f"{host['PidsLimit']} processes, {host['Memory'] / 2**20:.0f} MiB")  # fmt: skip


@pytest.mark.parametrize("service", SERVICES)
def test_nothing_can_be_written(stack: Stack, service: str, figure: Figure) -> None:
    script = "for p in " + " ".join(PLACES) + '; do if [ -d "$p" ] && touch "$p/.written" 2>/dev/null; ' \
        'then echo "$p"; rm -f "$p/.written"; fi; done'  # fmt: skip
    written = set(stack.execute(service, "sh", "-c", script).stdout.split())
    assert written == OWN_FOLDER.get(service, set())
    refused = stack.execute(service, "sh", "-c", "cp /bin/cat /tmp/cat && /tmp/cat /dev/null")
    assert refused.returncode != 0, "/tmp must not run programs"
    figure(f"C2 {service}", f"{len(PLACES)} places tried, written: {', '.join(written) or 'none'}")


def test_index_models_and_password_are_read_only(stack: Stack) -> None:
    for service, folder in (("bot", "/index"), ("bot", "/models"), ("bot", "/run/redis"),
                            ("chat", "/models"), ("embed", "/models")):  # fmt: skip
        made = stack.execute(service, "touch", f"{folder}/x")
        assert made.returncode != 0
        assert "Read-only file system" in made.stderr


def test_processes_are_bounded(stack: Stack, figure: Figure) -> None:
    program = (
        "import subprocess\n"
        "made = []\n"
        "try:\n"
        "    while len(made) < 300: made.append(subprocess.Popen(['sleep', '5']))\n"
        "except OSError: pass\n"
        "print(len(made))\n"
        "[child.kill() for child in made]\n"
    )
    made = int(stack.execute("bot", "python", "-c", program).stdout)
    assert made < 64
    assert stack.health()[0] == 200
    figure("C4 fork bomb", f"ends at {made} processes, the bot still answers")


def at_once(stack: Stack, *tries: tuple[str, ...]) -> list[subprocess.CompletedProcess[str]]:
    """Service and command of each: most wait 3 s for an answer that must not come."""
    with ThreadPoolExecutor(len(tries)) as pool:
        return list(pool.map(lambda words: stack.execute(*words), tries))


def test_no_way_out(stack: Stack, figure: Figure) -> None:
    closed = [name for name in SERVICES if name != "gateway"]
    for service in closed:
        for network in stack.inspect(service)["NetworkSettings"]["Networks"]:
            assert (
                docker("network", "inspect", "--format", "{{.Internal}}", network).stdout
                == "true\n"
            )
    # 192.0.2.1 belongs to nobody (RFC 5737). Refused at once or never answered: by engine.
    program = (
        "import socket\n"
        "try: socket.create_connection(('192.0.2.1', 80), 3)\n"
        "except OSError as error: print(type(error).__name__)"
    )
    bot, chat, embed = at_once(
        stack,
        ("bot", "python", "-c", program),
        *((service, "curl", "-m", "3", "http://192.0.2.1/") for service in ("chat", "embed")),
    )
    said = bot.stdout.strip()
    assert said in ("OSError", "TimeoutError")
    assert chat.returncode in (7, 28)
    assert embed.returncode in (7, 28)
    figure("C6 egress", f"{', '.join(closed)}: internal networks only; a try ends in {said}")


def test_only_the_pairs_that_talk_share_a_network(stack: Stack, figure: Figure) -> None:
    networks = {name: set(stack.inspect(name)["NetworkSettings"]["Networks"]) for name in SERVICES}
    pairs = {(one, other) for one in SERVICES for other in SERVICES
             if one < other and networks[one] & networks[other]}  # fmt: skip
    assert pairs == {tuple(sorted(pair)) for pair in MAY_REACH}
    targets, models = ("chat:8080", "embed:8080", "redis:6379"), ("chat", "embed")
    tried = at_once(
        stack,
        *(("gateway", "wget", "-T", "3", "-q", "-O", "-", f"http://{name}/") for name in targets),
        *((service, "curl", "-sS", "-m", "3", "http://redis:6379/") for service in models),
    )
    assert all(done.returncode for done in tried[: len(targets)])
    for done in tried[len(targets) :]:
        assert done.returncode in (6, 28), "no such name there"
    figure("C7 lateral", f"{len(pairs)} pairs share a network: "
           + ", ".join("-".join(pair) for pair in sorted(pairs)))  # fmt: skip


def test_the_password_is_in_its_file_only(stack: Stack, figure: Figure) -> None:
    password = stack.execute("bot", "cat", "/run/redis/bot.password").stdout.strip()
    assert re.fullmatch(r"[0-9a-f]{64}", password)
    looked = [stack.run("logs").stdout]
    for service in SERVICES:
        found = stack.inspect(service)
        looked.append(json.dumps(found))
        looked.append(docker("history", "--no-trunc", found["Image"]).stdout)
    assert not [text for text in looked if password in text]
    mode = stack.execute("redis", "ls", "-ln", "/data/bot.password").stdout.split()
    assert mode[0].startswith("-rw-r-----")
    assert mode[2:4] == ["999", "10001"]
    figure("C8 secrets", f"password of 256 bits, {len(looked)} places searched, finds 0")


@pytest.mark.parametrize("service", OURS)
def test_our_images_are_small_and_plain(stack: Stack, service: str, figure: Figure) -> None:
    image = f"portfolio-bot/{service}:local"
    found = json.loads(docker("image", "inspect", image).stdout)[0]
    assert found["Config"]["User"] == "10001:10001"
    assert found["Config"]["Healthcheck"]["Test"]
    privileged = docker("run", "--rm", "--network", "none", "--user", "0", "--entrypoint", "find", image,
                        "/", "-xdev", "-type", "f", "-perm", "/6000").stdout.split()  # fmt: skip
    assert privileged == []
    figure(f"C9 {service}", f"{found['Size'] / 1e6:.0f} MB, {len(privileged)} setuid files")


def test_redis_lets_nobody_do_more_than_needed(stack: Stack, figure: Figure) -> None:
    def redis(*command: str, user: str = "") -> str:
        login = '--user bot --pass "$(cat /data/bot.password)"' if user == "bot" else (
            f"--user {user} --pass x" if user else "")  # fmt: skip
        line = f"redis-cli --no-auth-warning {login} {' '.join(command)}"
        done = stack.execute("redis", "sh", "-c", line)
        return done.stdout + done.stderr

    assert "NOAUTH" in redis("GET", "rl:x")
    assert "WRONGPASS" in redis("GET", "rl:x", user="somebody")
    assert "PONG" in redis("PING", user="bot")
    forbidden = ("CONFIG GET x", "KEYS '*'", "FLUSHALL", "EVAL 'return 1' 0", "DEBUG SLEEP 0", "ACL LIST",
                 "SCRIPT FLUSH", "SHUTDOWN", "MONITOR", "SCAN 0", "DEL rl:x", "GET other:x",
                 "SET other:x 1", "CLIENT LIST", "MODULE LIST", "PUBLISH a b")  # fmt: skip
    passed = [
        command
        for command in forbidden
        if not any(
            refusal in redis(command, user="bot")
            for refusal in ("NOPERM", "DEBUG command not allowed")
        )
    ]
    assert passed == []
    assert "NOPERM" in redis("GET", "rl:x", user="probe")
    figure(
        "E10 redis", f"bot refused {len(forbidden)} of {len(forbidden)} commands, default user off"
    )


def test_the_model_servers_show_nothing_more(stack: Stack, figure: Figure) -> None:
    shown = []
    for path in ("/slots", "/", "/metrics", "/tools"):
        code = stack.execute("embed", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                             f"http://chat:8080{path}").stdout  # fmt: skip
        if code == "200":
            shown.append(path)
    assert shown == []
    cors = stack.execute("embed", "curl", "-s", "-D", "-", "-o", "/dev/null", "-H",
                         "Origin: https://evil.example", "http://chat:8080/health").stdout  # fmt: skip
    assert "evil.example" not in cors
    assert "access-control-allow-credentials: true" not in cors.lower()
    figure(
        "E11 llama-server", "not on the gateway's network; no slots, no page, no metrics, no CORS"
    )


def test_foreign_pages_get_nothing(stack: Stack, figure: Figure) -> None:
    host = stack.url.removeprefix("http://")
    refused = 0
    for origin in ("https://evil.example", "null", f"https://{host}", f"http://{host}.evil.example",
                   f"http://evil{host}", "http://127.0.0.1"):  # fmt: skip
        body = {
            "messages": [{"role": "user", "content": "Which projects are there?"}],
            "stream": False,
        }
        reply = httpx.post(
            f"{stack.url}/api/chat", json=body, headers={"Origin": origin}, timeout=60
        )
        assert reply.status_code == 403, origin
        assert "access-control-allow-origin" not in reply.headers
        assert "origin" in reply.headers.get("vary", "").lower()
        refused += 1
    for path in ("//api/chat", "/api/chat/", "/api/reindex"):
        assert httpx.post(f"{stack.url}{path}", json={}, timeout=10).status_code == 404
    figure("E4 origins", f"{refused} of {refused} foreign origins refused")
