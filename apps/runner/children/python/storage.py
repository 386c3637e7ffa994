"""`svc.storage` and `svc.datastore` of one run. Contents go to the runner and come from it in pieces."""

import json

from records import Record

PIECE_BYTES = 192 * 1024
OF_OBJECTS = "json.dumps makes text of objects"


class StorageError(Exception):
    """A call of `svc.storage` or `svc.datastore` that failed; `code` says why, as a word."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.message = message
        self.code = code


StorageError.__module__ = "svc"


class Client:
    """The functions, by name in snake_case; `ask(call, body)` sends a call to the runner and gives header and bytes."""

    def __init__(self, ask):
        self.ask = ask

    def storage(self):
        return {
            "upload": self.upload,
            "download": self.download,
            "list": self.list,
            "delete": self.delete,
            "create_signed_url": self.create_signed_url,
        }

    def datastore(self):
        return {
            "get": self.get,
            "set": self.set,
            "del": self.remove,
            "delete": self.remove,
            "keys": self.keys,
        }

    def send(self, method, body=None, **fields):
        header, data = self.ask({"method": method, **fields}, body)
        error = header.get("error")
        if error is not None:
            raise StorageError(error.get("message", ""), error.get("code"))
        return data if header.get("more") else header.get("value")

    def upload(self, name, data, options=None, **named):
        """Takes text, bytes, a file that is open for reading, or an iterable of those; gives the object."""
        content_type = option("content_type", options, named) or ""
        pieces = pieces_of(data)
        transfer = self.send("storage.upload", name=text(name), contentType=text(content_type, "The content type", True))
        try:
            for piece in pieces:
                self.send("storage.write", piece, transfer=transfer)
        except BaseException:
            self.send("storage.close", transfer=transfer)
            raise
        return record(self.send("storage.finish", transfer=transfer))

    def download(self, name):
        """The content, as bytes."""
        return b"".join(self.read(self.send("storage.download", name=text(name))))

    def list(self, options=None, **named):
        prefix = options if isinstance(options, str) else option("prefix", options, named)
        transfer = self.send("storage.list", prefix=text(prefix or "", "The prefix", True))
        return [record(each) for some in self.read(transfer) for each in json.loads(some)]

    def delete(self, name):
        self.send("storage.delete", name=text(name))

    def create_signed_url(self, name, options=None, **named):
        seconds = option("expires_in_seconds", options, named)
        if seconds is not None and (not isinstance(seconds, int) or isinstance(seconds, bool)):
            raise TypeError("expires_in_seconds must be a whole number")
        return record(self.send("storage.createSignedUrl", name=text(name), expiresInSeconds=seconds))

    def read(self, transfer):
        while (piece := self.send("storage.read", transfer=transfer)) is not None:
            yield piece

    def get(self, key):
        return json.loads(self.send("datastore.get", key=text(key, "The key")), object_pairs_hook=Record)

    def set(self, key, value):
        self.send("datastore.set", json.dumps(value, allow_nan=False).encode(), key=text(key, "The key"))

    def remove(self, key):
        """Whether it was there."""
        return self.send("datastore.delete", key=text(key, "The key"))

    def keys(self, prefix=""):
        return self.send("datastore.keys", prefix=text(prefix or "", "The prefix", True))


def record(value):
    """Read by key and by attribute, under the names of the interface and in snake_case."""
    return ObjectRecord(value)


class ObjectRecord(Record):
    NAMES = {
        "md5_hash": "md5Hash",
        "content_type": "contentType",
        "created_at": "createdAt",
        "updated_at": "updatedAt",
        "expires_at": "expiresAt",
    }

    def __missing__(self, key):
        if key in self.NAMES:
            return self[self.NAMES[key]]
        raise KeyError(key)


def option(name, options, named):
    """A value that came by name or in a mapping, in snake_case or camelCase."""
    first, *others = name.split("_")
    camel = first + "".join(each.capitalize() for each in others)
    given = {**(options or {}), **named}
    for each in given:
        if each not in (name, camel):
            raise TypeError(f"There is no option {each}: there is {name}")
    return given.get(name, given.get(camel))


def pieces_of(data):
    if isinstance(data, (str, bytes, bytearray, memoryview)):
        return cut(data)
    if hasattr(data, "read"):
        return (piece for chunk in iter(lambda: data.read(PIECE_BYTES), type(data.read(0))()) for piece in cut(chunk))
    # A mapping would give its keys.
    if hasattr(data, "__iter__") and not isinstance(data, dict):
        return (piece for chunk in data for piece in cut(chunk))
    raise TypeError(f"What is uploaded must be text, bytes, a file or an iterable of those; {OF_OBJECTS}")


def cut(data):
    if not isinstance(data, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"What is uploaded must be text or bytes; {OF_OBJECTS}")
    held = memoryview(data.encode() if isinstance(data, str) else data).cast("B")
    return (held[at : at + PIECE_BYTES] for at in range(0, len(held), PIECE_BYTES))


def text(value, what="The name", may_be_empty=False):
    if not isinstance(value, str) or (value == "" and not may_be_empty):
        raise TypeError(f"{what} must be a string")
    return value
