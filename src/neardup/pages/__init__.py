"""The pages: HTML, CSS and ES modules as they are written, and how they are served; there is no build step."""

from neardup.pages.files import FileReply, PageFiles, page_text

__all__ = ["FileReply", "PageFiles", "page_text"]
