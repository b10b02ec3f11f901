"""Checks docs/params.schema.json against the corpus, the examples in docs/users/formats.md and the parameter files in data/.

Usage: schema_test.py REPOSITORY_ROOT. Exit status 77 (skipped) where the jsonschema package is not installed.
"""
import copy
import json
import pathlib
import re
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def steps_of(pointer):
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def parent_and_key(document, pointer):
    *parents, last = steps_of(pointer)
    for step in parents:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document, int(last) if isinstance(document, list) else last


def build(corpus, entry):
    document = copy.deepcopy(corpus["bases"][entry["base"]])
    for pointer, value in entry.get("set", {}).items():
        if pointer == "":
            document = value
            continue
        parent, key = parent_and_key(document, pointer)
        parent[key] = value
    for pointer in entry.get("remove", []):
        parent, key = parent_and_key(document, pointer)
        del parent[key]
    return document


def main():
    root = pathlib.Path(sys.argv[1])
    schema = json.loads((root / "docs/params.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    corpus = json.loads((root / "tests/unit/params/corpus.json").read_text())

    cases = [(entry["name"], build(corpus, entry), True) for entry in corpus["good"]]
    cases += [(entry["name"], build(corpus, entry), not entry["schema"]) for entry in corpus["bad"]]
    for path in sorted((root / "data").glob("*.params.json")):
        cases.append((path.name, json.loads(path.read_text()), True))
    blocks = re.findall(r"```json\n(.*?)```", (root / "docs/users/formats.md").read_text(), re.DOTALL)
    examples = [block for block in map(json.loads, blocks) if block.get("format") == "semicrf-params"]
    if not examples:
        sys.exit("docs/users/formats.md has no example of a parameter file")
    cases += [("docs/users/formats.md", example, True) for example in examples]

    failures = 0
    for name, document, expected in cases:
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
        if (error is None) != expected:
            failures += 1
            print(f"FAILED {name}: " + (error.message if error else "accepted, but it is not valid"))
    print(f"{len(cases)} documents, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
