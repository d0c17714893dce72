#!/usr/bin/env python3
"""Holds every #include of the project against the order of its layers.

A file of a layer may include headers of its own layer and of earlier ones (the order in CMakeLists.txt).
Public headers may not include heavy third-party headers, nor private headers of src/.
Usage: check_layers.py [ROOT]; prints one line per breach, exits 1 if there is any.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
layers = re.findall(r"^lockstep_layer\((\w+)\)", (root / "CMakeLists.txt").read_text(), re.M)
include = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
# Kept out of public headers: slow to compile, or a dependency that users should not see.
private_only = re.compile(r"^(fmt|spdlog|nlohmann|CLI|tbb|oneapi|openssl|google|grpc|xla)/|^zlib\.h$")
breaches = []


def check(path, layer, public):
    text = path.read_text()
    for name in include.findall(text):
        match = re.match(r"(?:lockstep/)?(\w+)/", name)
        if match and match[1] in layers and layers.index(match[1]) > layers.index(layer):
            breaches.append(f"{path.relative_to(root)}: layer '{layer}' includes {name} of the later layer '{match[1]}'")
        if public and private_only.match(name):
            breaches.append(f"{path.relative_to(root)}: a public header includes {name}")
        if public and not name.startswith("lockstep/") and match and match[1] in layers:
            breaches.append(f"{path.relative_to(root)}: a public header includes the private {name}")


for layer in layers:
    for path in sorted((root / "include/lockstep" / layer).rglob("*.h")):
        check(path, layer, public=True)
    for path in sorted((root / "src" / layer).rglob("*")):
        if path.suffix in (".h", ".cc"):
            check(path, layer, public=False)
print("\n".join(breaches) or f"{len(layers)} layers, no breach")
sys.exit(bool(breaches))
