"""Objects that came as JSON, read by key and by attribute alike."""


class Record(dict):
    """A mapping whose keys are attributes, too; where mappings have a method of that name, the attribute is the method."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here", name=name, obj=self) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here", name=name, obj=self) from None

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]


class ServiceRecord(Record):
    """One of the service's own: `raw_body` and `rawBody` are the same; what may be missing is None by attribute."""

    OPTIONAL = ("schedule", "request", "comment", "raw_body", "is_base64")

    def __missing__(self, key):
        other = camel_case(key) if isinstance(key, str) else key
        if other == key:
            raise KeyError(key)
        return self[other]

    def __contains__(self, key):
        return super().__contains__(key) or (isinstance(key, str) and super().__contains__(camel_case(key)))

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            if snake_case(name) in self.OPTIONAL:
                return None
            return super().__getattr__(name)


def camel_case(name):
    first, *others = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in others) if first and others else name


def snake_case(name):
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)
