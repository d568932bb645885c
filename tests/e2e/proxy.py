# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that stands between a site and its broker and is a bad network at will.

    with Proxy(port) as p:     # p.port is where the site connects
        p.hold()               # nothing passes, nobody is told: a partition
        p.heal()               # what was held arrives, late
        p.cut()                # every connection is reset, what was under way is lost
        p.delay(0.3)           # each piece of data so many seconds later

New connections are taken at all times, as a network that drops packets cannot be told
from one that is slow.
"""
import collections
import contextlib
import selectors
import socket
import struct
import threading
import time

PIECE = 65536
HELD_MAX = 1 << 20  # of one direction: then the sender's own window fills


class Pipe:
    """One direction of a connection: pieces and when each is due."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.pieces = collections.deque()
        self.size = 0


class Proxy:
    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.pairs = {}  # socket: (the pipe from it, its other end)
        self.is_held = False
        self.delay_s = 0
        self.n_connections = 0
        self.orders = collections.deque()
        self.bell, self.rope = socket.socketpair()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.selector.register(self.bell, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    # ---- what a test says; it is done by the thread

    def order(self, do):
        done = threading.Event()
        self.orders.append((do, done))
        self.rope.send(b"x")
        done.wait(10)

    def hold(self):
        self.order(lambda: setattr(self, "is_held", True))

    def heal(self):
        self.order(lambda: (setattr(self, "is_held", False), setattr(self, "delay_s", 0)))

    def delay(self, seconds):
        self.order(lambda: setattr(self, "delay_s", seconds))

    def cut(self):
        self.order(lambda: [self.drop(end) for end in list(self.pairs)])

    def close(self):
        self.order(None)
        self.thread.join(10)
        self.cut_all()
        for end in (self.listener, self.bell, self.rope):
            end.close()
        self.selector.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- the thread

    def serve(self):
        while True:
            for key, _ in self.selector.select(self.pause()):
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj is self.bell:
                    self.bell.recv(PIECE)
                elif key.fileobj in self.pairs:
                    self.read(key.fileobj)
            while self.orders:
                do, done = self.orders.popleft()
                if do is not None:
                    do()
                done.set()
                if do is None:
                    return
            self.pass_on()

    def pause(self):
        """How long nothing is due; short while a sink is full."""
        due = [pipe.pieces[0][0] for pipe, _ in self.pairs.values() if pipe.pieces]
        if self.is_held or not due:
            return None
        return max(0.002, min(due) - time.monotonic())

    def accept(self):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            near.close()
            return
        self.n_connections += 1
        for end in (near, far):
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(end, selectors.EVENT_READ)
        self.pairs[near] = (Pipe(near, far), far)
        self.pairs[far] = (Pipe(far, near), near)

    def read(self, end):
        pipe, _ = self.pairs[end]
        try:
            piece = end.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece and self.is_held:
            self.selector.unregister(end)  # that end is gone; the other must not know
            return
        if not piece:
            self.drop(end)
            return
        pipe.pieces.append((time.monotonic() + self.delay_s, piece))
        pipe.size += len(piece)
        if pipe.size > HELD_MAX:
            self.selector.unregister(end)

    def pass_on(self):
        if self.is_held:
            return
        for end in list(self.pairs):
            if end in self.pairs:
                self.pass_pipe(end)

    def pass_pipe(self, end):
        pipe, _ = self.pairs[end]
        while pipe.pieces and pipe.pieces[0][0] <= time.monotonic():
            due, piece = pipe.pieces.popleft()
            try:
                sent = pipe.sink.send(piece)
            except BlockingIOError:
                sent = 0
            except OSError:
                self.drop(end)
                return
            pipe.size -= sent
            if sent < len(piece):
                pipe.pieces.appendleft((due, piece[sent:]))
                break
        if pipe.size <= HELD_MAX:
            with contextlib.suppress(KeyError, ValueError):
                self.selector.register(end, selectors.EVENT_READ)

    def drop(self, end):
        """Both ends of a connection, with a reset."""
        if end not in self.pairs:
            return
        _, other = self.pairs[end]
        for socket_ in (end, other):
            self.pairs.pop(socket_, None)
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(socket_)
            with contextlib.suppress(OSError):
                socket_.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
            socket_.close()

    def cut_all(self):
        for end in list(self.pairs):
            self.drop(end)
