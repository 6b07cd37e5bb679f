"""A preprocessor of mdBook: links to files outside docs/ lead to the repository."""

import json
import posixpath
import re
import sys

LINK = re.compile(r"\]\((\.\./[^)\s]*)\)")


def rewrite(chapter, repository):
    folder = posixpath.dirname(chapter["path"] or "")

    def target(match):
        path = posixpath.normpath(posixpath.join("docs", folder, match[1]))
        is_inside = path.startswith("docs/")
        return match[0] if is_inside else f"]({repository}/blob/main/{path})"

    chapter["content"] = LINK.sub(target, chapter["content"])
    for item in chapter["sub_items"]:
        if "Chapter" in item:
            rewrite(item["Chapter"], repository)


if len(sys.argv) > 1 and sys.argv[1] == "supports":
    sys.exit(0)
context, book = json.load(sys.stdin)
repository = context["config"]["output"]["html"]["git-repository-url"]
for item in book.get("items", book.get("sections", [])):
    if "Chapter" in item:
        rewrite(item["Chapter"], repository)
json.dump(book, sys.stdout)
