"""Validates JSON documents against a JSON Schema: schema.py SCHEMA DOCUMENT...

schema.py --spoil SCHEMA DOCUMENT STATEMENT... expects the schema to take the document, and to refuse it
after each of the statements, of Python, which spoil a copy of it that they call "it".

Of draft 2020-12 it knows what Tailback's schemas use; a keyword that it does not know is an
error, so that a schema cannot outgrow it, and so is an object whose members are not listed.
"""
import json
import re
import sys

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
SAID = {"$schema", "$id", "$defs", "title", "description"}
OF_OBJECTS = {"properties", "required", "additionalProperties"}


class Validator:
    def __init__(self, schema):
        self.root = schema

    def referred(self, reference):
        """What a reference within the schema leads to: "#/$defs/run"."""
        at = self.root
        for name in reference.removeprefix("#/").split("/"):
            at = at[name]
        return at

    def object_faults(self, schema, value, where):
        known = schema.get("properties", {})
        others = schema.get("additionalProperties")
        if others is None:
            yield f"the schema of {where} leaves open what else it has"
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where} has no '{name}'"
        for name, member in value.items():
            if name in known:
                yield from self.faults(known[name], member, f"{where}.{name}")
            elif others is False:
                yield f"{where} has '{name}', of which the schema knows nothing"
            elif others not in (None, True):
                yield from self.faults(others, member, f"{where}.{name}")

    def choice_faults(self, schemas, value, where):
        """Exactly one must fit; if none does, the faults are those of the nearest."""
        tried = [list(self.faults(schema, value, where)) for schema in schemas]
        fitting = tried.count([])
        if fitting > 1:
            yield f"{where} fits {fitting} of the schemas to choose from"
        elif fitting == 0:
            yield from min(tried, key=len)

    def faults(self, schema, value, where):
        for keyword, wanted in schema.items():
            if keyword == "type":
                types = wanted if isinstance(wanted, list) else [wanted]
                if not any(TYPES[name](value) for name in types):
                    yield f"{where} is {value!r}, not {' or '.join(types)}"
            elif keyword == "enum":
                if value not in wanted:
                    yield f"{where} is {value!r}, none of {wanted}"
            elif keyword == "minimum":
                if TYPES["number"](value) and value < wanted:
                    yield f"{where} is {value}, below {wanted}"
            elif keyword == "maximum":
                if TYPES["number"](value) and value > wanted:
                    yield f"{where} is {value}, above {wanted}"
            elif keyword == "pattern":
                if isinstance(value, str) and not re.search(wanted, value):
                    yield f"{where} is {value!r}, not like {wanted}"
            elif keyword == "minItems":
                if isinstance(value, list) and len(value) < wanted:
                    yield f"{where} has {len(value)} items, fewer than {wanted}"
            elif keyword == "maxItems":
                if isinstance(value, list) and len(value) > wanted:
                    yield f"{where} has {len(value)} items, more than {wanted}"
            elif keyword == "items":
                for i, item in enumerate(value if isinstance(value, list) else []):
                    yield from self.faults(wanted, item, f"{where}[{i}]")
            elif keyword == "$ref":
                yield from self.faults(self.referred(wanted), value, where)
            elif keyword == "oneOf":
                yield from self.choice_faults(wanted, value, where)
            elif keyword not in SAID | OF_OBJECTS:
                yield f"the schema of {where} has '{keyword}', of which this knows nothing"
        if isinstance(value, dict) and not {"$ref", "oneOf"} & schema.keys():
            yield from self.object_faults(schema, value, where)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check(schema_path, *paths):
    validator = Validator(load(schema_path))
    found = False
    for path in paths:
        for fault in validator.faults(validator.root, load(path), path):
            print(fault)
            found = True
    return found


def spoil(schema_path, path, *statements):
    found = check(schema_path, path)
    validator = Validator(load(schema_path))
    for statement in statements:
        spoiled = load(path)
        exec(statement, {"it": spoiled})
        if not any(validator.faults(validator.root, spoiled, path)):
            print(f"the schema takes {path} after: {statement}")
            found = True
    return found


if sys.argv[1] == "--spoil":
    sys.exit(spoil(*sys.argv[2:]))
sys.exit(check(*sys.argv[1:]))
