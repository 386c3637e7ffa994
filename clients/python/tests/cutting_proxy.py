"""A way to the system that loses answers, is cut, or answers in its place, as networks and their proxies do."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading
from collections import deque
from types import TracebackType
from typing import Self

LINGER_NOTHING = struct.pack("ii", 1, 0)


class CuttingProxy:
    """Forwards TCP connections. What is asked of it holds for the next request that fits, once."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._orders: deque[tuple[str, str, bytes]] = deque()
        #: The first lines of all requests, as they came.
        self.requests: list[str] = []
        self._is_closed = False

    def lose_answer(self, fits: str) -> None:
        """The next request whose first line has this reaches the system; its answer does not come back."""
        self._orders.append((fits, "lose", b""))

    def answer(self, fits: str, status: int, body: str = "", **headers: str) -> None:
        """The next request whose first line has this is answered here; underscores in names of headers are dashes."""
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = "\r\n".join([f"HTTP/1.1 {status} Here", *lines, f"Content-Length: {len(body.encode())}"])
        self._orders.append((fits, "answer", f"{head}\r\nConnection: close\r\n\r\n{body}".encode()))

    def cut_after(self, fits: str, bytes_of_answer: int) -> None:
        """The answer to the next request whose first line has this is cut after so many bytes."""
        self._orders.append((fits, "cut", str(bytes_of_answer).encode()))

    def cut(self) -> None:
        """All connections that are open now."""
        with self._lock:
            sockets = [*self._open]
        for one in sockets:
            _reset(one)

    def count(self, fits: str) -> int:
        """The requests whose first line has this."""
        return sum(fits in line for line in self.requests)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._is_closed = True
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            server = socket.create_connection(self._target)
            with self._lock:
                self._open |= {client, server}
            state = {"left": -1}
            threading.Thread(target=self._answers, args=(server, client, state), daemon=True).start()
            self._requests(client, server, state)
        _reset(client)

    def _requests(self, client: socket.socket, server: socket.socket, state: dict[str, int]) -> None:
        while data := client.recv(65536):
            first = data.split(b"\r\n", 1)[0].decode("latin-1")
            if re.fullmatch(r"[A-Z]+ \S+ HTTP/1\.1", first):
                self.requests.append(first)
                order = self._order_for(first)
                if order and order[1] == "answer":
                    client.sendall(order[2])
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65536):
                        pass  # the rest of the request
                    return
                if order:
                    state["left"] = int(order[2] or b"0")
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)

    def _order_for(self, first: str) -> tuple[str, str, bytes] | None:
        with self._lock:
            order = next((one for one in self._orders if one[0] in first), None)
            if order:
                self._orders.remove(order)
            return order

    def _answers(self, server: socket.socket, client: socket.socket, state: dict[str, int]) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if 0 <= state["left"] < len(data):
                    client.sendall(data[: state["left"]])
                    break
                if state["left"] > 0:
                    state["left"] -= len(data)
                client.sendall(data)
        _reset(client)
        _reset(server)


def _reset(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOTHING)
        one.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        one.close()
