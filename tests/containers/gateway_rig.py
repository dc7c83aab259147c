"""The real gateway image in front of `upstream.py`, on a network of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

from tests.containers.stack import ROOT, docker

GATEWAY_IMAGE = "portfolio-bot/gateway:test"
BOT_PORT = 7331
GATEWAY_PORT = 8080


@dataclass(frozen=True)
class GatewayRig:
    """Both containers; traffic goes to the published loopback port only."""

    url: str
    port: int
    gateway: DockerContainer
    upstream: DockerContainer
    https_port: int
    """The same gateway with `SITE_ADDRESS=localhost`: Caddy then makes its own certificate."""
    http_port: int
    """Where that one redirects to https."""

    def gateway_log(self) -> str:
        """All lines the gateway wrote."""
        out, err = self.gateway.get_logs()
        return (out + err).decode()


@contextmanager
def gateway_rig() -> Iterator[GatewayRig]:
    """Start both; the helper container of testcontainers is left out, its image can't be had everywhere."""
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    docker("build", "--quiet", "--tag", GATEWAY_IMAGE, str(ROOT / "services/gateway"))
    script = Path(__file__).with_name("upstream.py")
    with Network() as network:
        upstream = (
            DockerContainer(base_image())
            .with_network(network)
            .with_network_aliases("bot")
            .with_volume_mapping(str(script), "/upstream.py", "ro")
            .with_command(["python3", "-u", "/upstream.py", str(BOT_PORT)])
            .with_kwargs(init=True)
        )
        gateway = _gateway(network, GATEWAY_PORT)
        secure = _gateway(network, 443, 80).with_env("SITE_ADDRESS", "localhost")
        with upstream, gateway, secure:
            port, https_port, http_port = (
                int(container.get_exposed_port(inside))
                for container, inside in ((gateway, GATEWAY_PORT), (secure, 443), (secure, 80))
            )
            yield GatewayRig(
                f"http://127.0.0.1:{port}", port, gateway, upstream, https_port, http_port
            )


def _gateway(network: Network, *ports: int) -> DockerContainer:
    """As locked as in compose.yaml."""
    made = (
        DockerContainer(GATEWAY_IMAGE)
        .with_network(network)
        .with_tmpfs_mount("/data", "size=1m,uid=10001")
        .with_kwargs(
            init=True, read_only=True, cap_drop=["ALL"], security_opt=["no-new-privileges:true"]
        )
        # Not HttpWaitStrategy: inside a container of its own it would ask the bridge's address.
        .waiting_for(LogMessageWaitStrategy("serving initial configuration"))
    )
    for port in ports:
        # with_bind_ports knows no address; without one the port would be open to the network.
        made.ports[f"{port}/tcp"] = cast(int, ("127.0.0.1", None))
    return made


def curl(rig: GatewayRig, path: str, *options: str) -> str:
    """What the gateway answers over TLS; its certificate is its own and not looked at."""
    return subprocess.run(
        ["curl", "--insecure", "--silent", "--no-buffer", *options,
         f"https://localhost:{rig.https_port}{path}"],
        capture_output=True, text=True, timeout=180, check=True,
    ).stdout  # fmt: skip


def base_image() -> str:
    """The Python image that the Dockerfiles build on."""
    first = (ROOT / "services/bot/Dockerfile").read_text("utf-8").split("FROM ", 1)[1]
    return first.split()[0]
