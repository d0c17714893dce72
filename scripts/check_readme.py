#!/usr/bin/env python3
"""Checks that the README's program is examples/readme.cc, to the letter, and short; and that its links exist.

With --write the program is copied into the README. Usage: check_readme.py [--write] [ROOT]
"""
import pathlib
import re
import sys

arguments = [a for a in sys.argv[1:] if a != "--write"]
root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
readme = root / "README.md"
text = readme.read_text()
program = (root / "examples/readme.cc").read_text()
block = re.compile(r"(<!-- examples/readme\.cc -->\n```cpp\n)(.*?)(```)", re.S)
if "--write" in sys.argv:
    text = block.sub(lambda m: m[1] + program + m[3], text)
    readme.write_text(text)

faults = []
found = block.search(text)
if not found or found[2] != program:
    faults.append("README.md does not show examples/readme.cc as it is; run scripts/check_readme.py --write")
if (lines := len(program.splitlines())) > 25:
    faults.append(f"examples/readme.cc has {lines} lines; at most 25 fit the README's first screen")
for page in [readme, *sorted((root / "docs").glob("*.md"))]:
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.S | re.M)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
        if not (page.parent / target).exists():
            faults.append(f"{page.relative_to(root)} links to {target}, which does not exist")
print("\n".join(faults) or "the README's program and every link are good")
sys.exit(bool(faults))
