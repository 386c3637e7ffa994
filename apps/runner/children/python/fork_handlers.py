"""Whether libraries have, or may have, handlers that the C library calls around forks."""

import ctypes

# In a dynamic section (System V ABI, chapter 5).
END, NAMES, NAMES_SIZE = 0, 5, 10
# As which it is linked, by glibc and by musl.
REGISTERS = (b"\0__register_atfork\0", b"\0pthread_atfork\0")
# Its handler ends its threads, which are begun again when there is work.
HARMLESS = b"openblas"


class Library(ctypes.Structure):
    """What `dlopen` gives: the head of glibc's `struct link_map`, and of musl's `struct dso`."""

    _fields_ = [
        ("base", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("dynamic", ctypes.POINTER(ctypes.c_size_t)),
        ("next", ctypes.c_void_p),
    ]

    def names(self):
        """All that it is linked by, each between zeros."""
        entries, at = {}, 0
        while self.dynamic[at] != END:
            entries[self.dynamic[at]] = self.dynamic[at + 1]
            at += 2
        names = entries[NAMES]
        return ctypes.string_at(names if names > self.base else self.base + names, entries[NAMES_SIZE])


def loaded():
    """What is loaded by now, by addresses."""
    found, address = {}, ctypes.PyDLL(None)._handle
    while address:
        library = found[address] = Library.from_address(address)
        address = library.next
    return found


def may_be_since(before):
    """Whether any of what was loaded since may have handlers that matter to a process without threads."""
    return any(
        registers in library.names()
        for address, library in loaded().items()
        if address not in before and HARMLESS not in library.path.rpartition(b"/")[2]
        for registers in REGISTERS
    )
