"""The web pages: plain HTML, CSS and ES modules without a build step, and the code that serves them."""

from neardup.pages.files import FileReply, PageFiles, page_text

__all__ = ["FileReply", "PageFiles", "page_text"]
