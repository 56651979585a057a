"""One worker process: it reads pages from its standard input and writes their texts to its standard output.

It runs as a script, so that it loads only the parser. A request is one page, a response one text; both are a fixed
header and UTF-8 bytes, so nothing from a hostile page is ever unpickled. The worker ends when its input ends, or, if
the parent has died while a page hangs, by its own alarm.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from struct import Struct
from typing import Any, BinaryIO

__all__ = [
    "ERROR",
    "HIGHLIGHTS",
    "MEMORY",
    "OK",
    "REQUEST",
    "RESPONSE",
    "SECOND",
    "WHOLE",
    "SecondOpinion",
    "WholePage",
    "decode",
    "main",
    "reader",
]

REQUEST = Struct(
    "<?HQ"
)  # whether the page is bytes of unknown charset, length of the charset hint, of the page
RESPONSE = Struct(
    "<BQQQ"
)  # status, length of the text or of the error message, of the title, of the highlights
# WHOLE: a text, of the whole page because its main content is too little; SECOND: of trafilatura for the same reason
OK, ERROR, MEMORY, WHOLE, SECOND = range(5)

HIGHLIGHTS = "+highlights"  # behind a method: also the words that a page sets apart, a line for each kind

Reader = Callable[[str], tuple[str, ...]]
LEAST_MAIN = 0.3  # of a page's words; what holds less is not its main content

# The parent kills a worker at the limit; the worker's alarm is for the case that the parent has died.
GRACE_SECONDS = 1.0

# Elements that do not begin a line of text. All others do.
# fmt: off
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font",
    "i", "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
))
# Charsets, by Python's names, that rarely decode text of another charset.
RELIABLE = frozenset((
    "big5", "big5hkscs", "cp932", "cp949", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp",
    "shift_jis", "utf-16", "utf-16-be", "utf-16-le",
))
# fmt: on


def decode(page: bytes, hint: str = "") -> str:
    """Decode the page: by byte order mark, by the hint (HTTP), by the meta element, else by detection.

    A declared charset is used if the bytes are valid in it. Single-byte charsets accept almost all bytes, and servers
    declare them by default, so well-formed UTF-8 comes before them. Bytes that fit no charset become U+FFFD.
    """
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if page.startswith(mark):
            return page.decode(name, "replace")
    detected = detect_encoding(page) or "utf-8"
    declared = [name for name in (hint and map_encoding_to_html5(hint, fallback_utf8=False),) if name]
    if (meta := detect_encoding(page, from_html_meta=True)) not in (None, detected):
        declared.append(meta)
    if b"\0" not in page:  # markup in UTF-16 has zero bytes
        declared = [name for name in declared if not name.lower().startswith("utf-16")]
    reliable = [name for name in declared if codecs.lookup(name).name in RELIABLE]
    for name in (*reliable, *([] if page.isascii() else ["utf-8"]), *declared, detected):
        try:
            return page.decode(name)
        except UnicodeDecodeError:
            pass
    text: str = bytes_to_str(page, detected, errors="replace")
    return text


def reader(method: str) -> Reader:
    """The function that turns a page into its text and title; loads the parser that it needs."""
    bare = method.removesuffix(HIGHLIGHTS)
    return _text_reader(method) if bare == method else _with_highlights(_text_reader(bare), bare)


def _text_reader(method: str) -> Reader:
    if method == "none":
        return lambda page: (page, "")
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree, NodeType

    second: Any = None
    if method == "second-opinion":
        from trafilatura import extract as second

    def main_content(page: str) -> tuple[str, str]:
        tree = HTMLTree.parse(page)
        _without_drawings(tree.body)
        text, every = (
            extract_plain_text(tree, main_content=only, list_bullets=False, links=False, alt_texts=False)
            for only in (True, False)
        )
        if len(text.split()) < LEAST_MAIN * len(every.split()):
            if second is not None:
                other = second(page, include_comments=False) or ""
                if len(other.split()) >= LEAST_MAIN * len(every.split()):
                    return SecondOpinion(other), tree.title or ""
            return WholePage(_lines(tree.body, NodeType.TEXT, NodeType.ELEMENT)), tree.title or ""
        return text, tree.title or ""

    def whole_page(page: str) -> tuple[str, str]:
        tree = HTMLTree.parse(page)
        _without_drawings(tree.body)
        return _lines(tree.body, NodeType.TEXT, NodeType.ELEMENT), tree.title or ""

    def tags(page: str) -> tuple[str, str]:
        tree = HTMLTree.parse(page)
        found = [node.tag for node in tree.body or () if node.type == NodeType.ELEMENT]
        return " ".join(found), tree.title or ""

    def anchors(page: str) -> tuple[str, str]:
        tree = HTMLTree.parse(page)
        texts = [" ".join(node.text.split()) for node in _links(tree)]
        return "\n".join(filter(None, texts)), tree.title or ""

    def links(page: str) -> tuple[str, str]:
        tree = HTMLTree.parse(page)
        return "\n".join("".join(node.getattr("href").split()) for node in _links(tree)), tree.title or ""

    structure = {"tags": tags, "anchors": anchors, "links": links}
    if method in structure:
        return structure[method]
    if method in ("main", "second-opinion"):
        return main_content
    if method == "whole":
        return whole_page
    from trafilatura import extract

    def article(page: str) -> tuple[str, str]:
        return extract(page, include_comments=False) or "", HTMLTree.parse(page).title or ""

    return article


def _with_highlights(read: Reader, method: str) -> Reader:
    """A reader of "main" or "whole" that gives a third text: the words that the page sets apart."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import NodeType

    from neardup.web.highlights import marked

    def highlighted(page: str) -> tuple[str, ...]:
        text, title, *_ = read(page)

        def again(tree: Any) -> str:
            _without_drawings(tree.body)
            if method == "whole" or isinstance(text, WholePage):
                return _lines(tree.body, NodeType.TEXT, NodeType.ELEMENT)
            plain: str = extract_plain_text(
                tree, main_content=True, list_bullets=False, links=False, alt_texts=False
            )
            return plain

        return text, title, "\n".join(marked(page, text, again))

    return highlighted


class WholePage(str):
    """The text of a whole page where main content was asked for."""


class SecondOpinion(str):
    """The main content by trafilatura, because the other extractor found too little."""


def _without_drawings(body: Any) -> None:
    """Remove inline SVG and MathML: their text is not words of the page."""
    for drawing in _elements(body, "svg", "math"):
        if drawing.parent is not None:
            drawing.parent.remove_child(drawing)


def _links(tree: Any) -> list[Any]:
    return [link for link in _elements(tree.body, "a") if link.hasattr("href")]


def _elements(body: Any, *names: str) -> list[Any]:
    """The elements of these names in a body, in order. Where there are several, the whole page is walked once: to get
    one after another from what a selector finds takes longer the more there are."""
    if body is None:
        return []
    found = body.query_selector_all(",".join(names))
    if len(found) <= 4:
        return list(found)
    return [node for node in body if node.tag in names and node != body]


def _lines(body: Any, text: Any, element: Any) -> str:
    """All text of the body without scripts, styles and noscript; a space for each tag, a line for each block."""
    if body is None:
        return ""
    # Removed, not destroyed: such an element may be inside another one, whose node must remain valid.
    for unseen in _elements(body, "script", "style", "noscript"):
        unseen.parent.remove_child(unseen)
    lines: list[list[str]] = [[]]
    for node in body:
        if node.type == text:
            lines[-1] += node.value.split()
        elif node.type == element and lines[-1] and node.tag not in INLINE:
            lines.append([])
    return "\n".join(" ".join(words) for words in lines if words)


def _limit_memory(memory: int) -> None:
    """Limit the address space to its present size plus `memory` bytes, if the system supports it."""
    try:
        import resource
    except ImportError:
        return
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        used = 2**30  # enough for an interpreter and a parser
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = used + memory if hard == resource.RLIM_INFINITY else min(used + memory, hard)
    # macOS has this call but refuses it.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _answer(page: bytes, unknown: bool, hint: str, read: Reader) -> tuple[int, list[bytes]]:
    try:
        text, title, *marks = read(decode(page, hint) if unknown else page.decode("utf-8", "replace"))
        status = WHOLE if isinstance(text, WholePage) else SECOND if isinstance(text, SecondOpinion) else OK
        parts = (text, " ".join(title.split()), *marks)
        return status, [part.encode("utf-8", "replace") for part in parts]
    except MemoryError:
        return MEMORY, []
    except Exception as error:
        # HTML cannot be malformed: the parser fails only if there is no memory.
        if "Failed to parse HTML document" in str(error):
            return MEMORY, []
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return ERROR, [reason.encode("utf-8", "replace")]


def main(method: str, seconds: float, memory: int, source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until the input ends. Before the first request, report once whether the worker is ready."""

    def respond(status: int, text: bytes = b"", title: bytes = b"", marks: bytes = b"") -> None:
        target.writelines((RESPONSE.pack(status, len(text), len(title), len(marks)), text, title, marks))
        target.flush()

    try:
        read = reader(method)
        read(decode(b"<p>ready</p>"))  # modules that a parser loads late are loaded before memory is limited
        _limit_memory(memory)
    except Exception as error:
        return respond(ERROR, f"{type(error).__name__}: {error}".encode())
    respond(OK)
    while len(header := source.read(REQUEST.size)) == REQUEST.size:
        unknown, hint_length, length = REQUEST.unpack(header)
        hint = source.read(hint_length).decode("ascii", "replace")
        try:
            page = source.read(length)
        except MemoryError:
            return respond(MEMORY)
        if len(page) < length:
            return None
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
        answer = _answer(page, unknown, hint, read)
        signal.setitimer(signal.ITIMER_REAL, 0)
        respond(answer[0], *answer[1])


if __name__ == "__main__":
    signal.signal(
        signal.SIGALRM, signal.SIG_DFL
    )  # ends the process even inside a parser that holds the interpreter
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    # Responses have their own descriptor: output that a parser prints must not be mixed with them.
    answers = os.dup(1)
    os.dup2(2, 1)
    with open(0, "rb") as requests, open(answers, "wb") as responses:
        main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), requests, responses)
