"""Event loops that notice when nothing can wake them any more."""

import _thread
import selectors


class NeverSettles(RuntimeError):
    pass


NeverSettles.__name__ = NeverSettles.__qualname__ = "RuntimeError"
NeverSettles.__module__ = "builtins"


class Selector(selectors.DefaultSelector):
    """Refuses to wait without end for nothing but a word from threads or signals, when there are none."""

    def select(self, timeout=None):
        if timeout is None and len(self.get_map()) == 1 and _thread._count() == 0:
            (key,) = self.get_map().values()
            if is_idle_loop(key.data):
                raise NeverSettles("The run waits for a future that can never settle")
        return super().select(timeout)


def is_idle_loop(data):
    """Whether this is how an event loop registers the descriptor by which threads and signals wake it."""
    reader = data[0] if isinstance(data, tuple) else None
    callback = getattr(reader, "_callback", None)
    loop = getattr(callback, "__self__", None)
    return getattr(callback, "__name__", "") == "_read_from_self" and not getattr(loop, "_signal_handlers", None)


def install():
    """Every event loop gets such a selector, unless it is given another."""
    selectors.DefaultSelector = Selector


def wait_for(awaitable):
    """Runs an event loop until this is done. What else runs in it is not waited for."""
    import asyncio  # Takes longer than all else that a fork needs, and most programs do without.

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop.run_until_complete(result_of(awaitable))


async def result_of(awaitable):
    return await awaitable
