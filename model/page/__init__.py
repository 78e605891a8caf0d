"""The pictures of the app without the app: the bytes that a component draws from, and pages that open from disk."""

from model.page.view import Page, page, save_html, show

__all__ = ["Page", "page", "save_html", "show"]
