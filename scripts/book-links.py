"""Links of the book. mdBook calls it to prepare the pages: links to files outside docs/ then lead to the repository.

`book-links.py check FOLDER` checks that all links between the pages of a built book lead somewhere."""

import html.parser
import json
import pathlib
import posixpath
import re
import sys
import urllib.parse

# In the line, or at the foot of a page.
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )(?!https?:)([^)\s#]+)", re.MULTILINE)


def prepare(chapter, repository):
    folder = posixpath.dirname(chapter["path"] or "")

    def target(match):
        path = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        if not path.startswith("docs/"):
            return f"{match[1]}{repository}/blob/main/{path}"
        # mdBook calls the page of a folder so.
        return match[1] + re.sub(r"\bREADME\.md$", "index.md", match[2])

    chapter["content"] = LINK.sub(target, chapter["content"])
    prepare_all(chapter["sub_items"], repository)


def prepare_all(items, repository):
    for item in items:
        if "Chapter" in item:
            prepare(item["Chapter"], repository)


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.names.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def check(folder):
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            # toc.html is a frame of all pages, and 404.html has the links of a server's root.
            if url.scheme or url.netloc or path.name in ("toc.html", "404.html"):
                continue
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            name = urllib.parse.unquote(url.fragment)
            if not target.exists() or name and target in pages and name not in pages[target].names:
                dead.append(f"{path.relative_to(folder)}: {link}")
    print("\n".join(dead) or f"{len(pages)} pages, all links lead somewhere")
    return 1 if dead else 0


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
if sys.argv[1:2] == ["check"]:
    sys.exit(check(pathlib.Path(sys.argv[2]).resolve()))
context, book = json.load(sys.stdin)
repository = context["config"]["output"]["html"]["git-repository-url"]
prepare_all(book.get("items") or book["sections"], repository)
json.dump(book, sys.stdout)
