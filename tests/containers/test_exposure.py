"""What the stack shows to strangers: preflights, hosts, debug switches, rights, logs (E3-E6, C10, C12)."""

from __future__ import annotations

import itertools
import json
import re
import socket
from typing import Any

import httpx

from tests.containers.conftest import Figure
from tests.containers.gateway_rig import GatewayRig, curl
from tests.containers.stack import ALLOWED_ORIGIN, JOBS, ROOT, SERVICES, Stack, docker

MEBIBYTE = 2**20
KEPT_BYTES = 3 * 10 * MEBIBYTE
"""logging.options in compose.yaml: three files of 10 MB."""
SENSITIVE = ("/", "/boot", "/dev", "/etc", "/lib", "/proc", "/sys", "/usr", "/var/run/docker.sock",
             "/run/docker.sock")  # fmt: skip


def preflight(stack: Stack, path: str, origin: str, method: str, headers: str) -> httpx.Response:
    """What a browser sends before it asks."""
    sent = {"Origin": origin, "Access-Control-Request-Method": method}
    if headers:
        sent["Access-Control-Request-Headers"] = headers
    return httpx.options(f"{stack.url}{path}", headers=sent, timeout=30)


def test_e5_preflights(stack: Stack, figure: Figure) -> None:
    """Good for one origin, POST and content-type alone; and no visitor's allowance pays for them."""
    cases = right = 0
    for origin, method, headers in itertools.product(
        (ALLOWED_ORIGIN, "https://evil.example", f"{ALLOWED_ORIGIN}.evil.example", "null"),
        ("POST", "PUT", "DELETE", "TRACE", "post"),
        ("content-type", "", "content-type, x-odd", "authorization"),
    ):
        reply = preflight(stack, "/api/chat", origin, method, headers)
        good = (origin, method) == (ALLOWED_ORIGIN, "POST") and headers in ("content-type", "")
        cases += 1
        if good:
            right += (
                reply.status_code == 204
                and reply.headers["access-control-allow-origin"] == origin
                and int(reply.headers["access-control-max-age"]) > 0
                and "access-control-allow-credentials" not in reply.headers
            )
        else:
            allowed = reply.headers.get("access-control-allow-headers", "").lower()
            passes = (
                reply.headers.get("access-control-allow-origin") == origin
                and method in reply.headers.get("access-control-allow-methods", "")
                and all(name.strip() in allowed for name in headers.split(",") if name)
            )
            right += not passes
        assert reply.status_code != 429
        assert "origin" in reply.headers.get("vary", "").lower() or reply.status_code == 404
    assert right == cases
    figure("E5 preflights", f"{right} of {cases} combinations right; none counts as a question")


def raw_status(port: int, head: str, body: bytes = b"") -> tuple[int, str]:
    """Status and text of the answer to a request written by hand."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n" + body)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    text = received.decode(errors="replace")
    return int(text.split()[1]), text


def test_e6_the_host_header(stack: Stack, rig: GatewayRig, figure: Figure) -> None:
    """No Host opens another door, none comes back in an answer, and TLS serves its own name only."""
    port = int(stack.url.rsplit(":", 1)[1])
    seen = {}
    for name, lines in {
        "unknown": "Host: evil.example\n",
        "with a port": "Host: evil.example:1\n",
        "upper case": f"HOST: 127.0.0.1:{port}\n",
        "forwarded": f"Host: 127.0.0.1:{port}\nX-Forwarded-Host: evil.example\n",
        "none": "",
    }.items():
        for path in ("/api/info", "/api/reindex", "/metrics"):
            status, text = raw_status(port, f"GET {path} HTTP/1.1\n{lines}Connection: close\n")
            assert status == (400 if name == "none" else 200 if path == "/api/info" else 404), text
            assert "evil.example" not in text
            seen[name, path] = status
        # An Origin that calls itself the bot's own must be the host that was really asked.
        body = b'{"messages": []}'
        status, text = raw_status(
            port,
            f"POST /api/chat HTTP/1.1\nHost: 127.0.0.1:{port}\nX-Forwarded-Host: evil.example\n"
            "Origin: http://evil.example\nContent-Type: application/json\n"
            f"Content-Length: {len(body)}\nConnection: close\n",
            body,
        )
        assert status == 403, text
    status, text = raw_status(port, "GET /api/info HTTP/1.0\n")
    assert status in (200, 400)
    other = curl(rig, "/api/info", "--header", "Host: evil.example", "--include")
    assert '"headers"' not in other, "the bot was asked under a foreign name"
    figure("E6 host", f"{len(seen) + 3} requests: unknown names get no more than the known one, none is "
           "sent back; with HTTPS they get nothing of the bot")  # fmt: skip


def test_e3_debug_switches_do_nothing(stack: Stack, figure: Figure) -> None:
    """Litestar reads LITESTAR_DEBUG and LITESTAR_PDB, and has /schema by default."""
    program = (
        "import httpx, json, sys, time\n"
        "for _ in range(600):\n"
        "    try: httpx.get('http://127.0.0.1:7331/api/info'); break\n"
        "    except httpx.HTTPError: time.sleep(.1)\n"
        "told = {path: httpx.get('http://127.0.0.1:7331' + path).status_code for path in"
        " ('/schema', '/schema/openapi.json', '/docs', '/metrics', '/debug')}\n"
        "reply = httpx.post('http://127.0.0.1:7331/api/chat', content=b'{', "
        "headers={'Content-Type': 'application/json'})\n"
        "print(json.dumps({'told': told, 'status': reply.status_code, 'text': reply.text}))\n"
    )
    options = ("-e", "LITESTAR_DEBUG=1", "-e", "LITESTAR_PDB=1", "-e", "DEBUG=1")
    with stack.another("bot", *options) as execute:
        found = json.loads(execute("python", "-c", program).stdout)
    assert set(found["told"].values()) == {404}, found
    assert found["status"] == 400
    for word in ("Traceback", "litestar", "/app/", "File "):
        assert word not in found["text"]
    figure("E3 debug", f"with the switches on: {len(found['told'])} pages of the framework are 404, "
           "errors show no trace")  # fmt: skip


def findings(container: dict[str, Any], service: str) -> dict[str, bool]:
    """Checks of the CIS Docker Benchmark, chapter 5, by its number; True is a pass."""
    config, host = container["Config"], container["HostConfig"]
    mounts = container["Mounts"]
    processes = docker("top", container["Id"], "-eo", "pid,comm").stdout
    job = service in JOBS
    ports = [bound for found in (host["PortBindings"] or {}).values() for bound in found or []]
    return {
        "5.4": host["CapAdd"] in (None, []) and "ALL" in host["CapDrop"],
        "5.5": not host["Privileged"],
        "5.6": not [mount for mount in mounts if mount["Source"] in SENSITIVE],
        "5.7": "sshd" not in processes,
        "5.8": all(int(bound["HostPort"]) >= 1024 for bound in ports),
        "5.9": bool(ports) == (service == "gateway"),
        "5.10": host["NetworkMode"] != "host",
        "5.11": host["Memory"] > 0,
        "5.12": host["NanoCpus"] > 0,
        "5.13": host["ReadonlyRootfs"],
        "5.14": all(bound["HostIp"] not in ("", "0.0.0.0", "::") for bound in ports),
        # `unless-stopped` instead: a stack must come back after the machine's restart.
        "5.15": host["RestartPolicy"]["Name"] == ("no" if job else "unless-stopped"),
        "5.16": host["PidMode"] == "",
        "5.17": host["IpcMode"] in ("private", "shareable"),
        "5.18": not host["Devices"],
        "5.19": {limit["Name"] for limit in host["Ulimits"]} == {"core", "nofile"},
        "5.20": all(mount.get("Propagation", "") != "shared" for mount in mounts),
        "5.21": host["UTSMode"] == "",
        "5.22": "seccomp=unconfined" not in host["SecurityOpt"],
        "5.25": host["CgroupParent"] == "",
        "5.26": "no-new-privileges:true" in host["SecurityOpt"],
        "5.27": job or container["State"]["Health"]["Status"] != "none",
        "5.29": 0 < host["PidsLimit"] <= 128,
        "5.30": "bridge" not in container["NetworkSettings"]["Networks"],
        "5.31": host["UsernsMode"] == "",
        "5.32": not [mount for mount in mounts if mount["Source"].endswith("docker.sock")],
        "4.1": config["User"].split(":")[0] not in ("", "0", "root"),
    }


def test_c10_the_docker_benchmark(stack: Stack, figure: Figure) -> None:
    failed, checks = [], 0
    for service in SERVICES:
        found = findings(stack.inspect(service), service)
        checks += len(found)
        failed += [f"{service} {number}" for number, passed in found.items() if not passed]
    for path in (*ROOT.glob("services/*/Dockerfile"), ROOT / "models/Dockerfile"):
        text = path.read_text("utf-8")
        checks += 3
        failed += [f"{path.parent.name} 4.9"] if re.search(r"^ADD ", text, re.M) else []
        failed += [] if "HEALTHCHECK" in text else [f"{path.parent.name} 4.6"]
        failed += (
            [f"{path.parent.name} 4.10"] if re.search(r"(?i)password|token|secret=", text) else []
        )
    assert failed == []
    figure("C10 benchmark", f"{checks} checks of CIS Docker chapters 4 and 5, failed 0")


def test_c12_a_flood_of_log_lines_has_an_end(stack: Stack, figure: Figure) -> None:
    """60 MB of lines; what the engine keeps of them is what `docker logs` can give back."""
    sent = 60 * MEBIBYTE
    name = f"{stack.environment['COMPOSE_PROJECT_NAME']}-extra-flood"
    docker("rm", "--force", name, check=False)
    try:
        stack.run("run", "--name", name, "--no-deps", "-T", "--detach", "models",
                  "sh", "-c", f"yes 'a line that says as much as an access log does' | head -c {sent}",
                  timeout_seconds=120)  # fmt: skip
        docker("wait", name, timeout_seconds=300)
        lines = docker("logs", name, timeout_seconds=300).stdout
    finally:
        docker("rm", "--force", name, check=False)
    assert MEBIBYTE < len(lines) <= KEPT_BYTES
    figure("C12 logs", f"{sent / MEBIBYTE:.0f} MiB written, {len(lines) / MEBIBYTE:.0f} MiB kept")
