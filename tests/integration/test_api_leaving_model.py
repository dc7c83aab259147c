"""A visitor who leaves, down to the model server: its connection is closed, or it would write to the end.

The adapter and its HTTP client are the real ones. On Python 3.13, but not on 3.11, a second cancellation of
an answer left that connection open (tests/containers/test_python_of_images.py).
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.adapters.llamacpp import LlamaServer
from bot.app import create_app
from corpus.settings import ProviderSettings, Settings
from tests.fake_llama import FakeLlama, Reply
from tests.fakes import fake_ports
from tests.integration.test_api_leaving import TIMING, StraightToTheModel, connect, read_until
from tests.live_server import question, serve_in_thread


@pytest.mark.parametrize("pieces", [0, 2], ids=["before the first token", "mid-stream"])
def test_leaving_closes_the_connection_of_the_model_server(pieces: int) -> None:
    """A12: `aborted` counts what the model server itself notices."""
    with FakeLlama() as fake:
        fake.enqueue(Reply(hold=pieces))
        model = LlamaServer(ProviderSettings(endpoint=fake.url, model="m-1"))
        ports = replace(fake_ports(), model=model)
        app = create_app(Settings(), ports, make_service=StraightToTheModel, timing=TIMING)
        with serve_in_thread(app) as server:
            server.in_loop(model.open)
            with connect(server, question()) as connection:
                if pieces:
                    read_until(connection, b'"type":"chunk"')
                assert fake.wait_until(lambda: fake.open_streams == 1)
            assert fake.wait_until(lambda: fake.aborted == 1)
            server.in_loop(model.aclose)
