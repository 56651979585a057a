"""Opening a page that we serve."""

from __future__ import annotations

import os
import sys

__all__ = ["open_browser"]


def open_browser(url: str) -> None:
    """Open the page in the user's browser, if there is a screen to show it on."""
    if sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import threading
    import webbrowser

    # Some browsers return only when they are closed.
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
