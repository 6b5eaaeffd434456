"""How a verdict looks: one card for notebook, terminal and feedback page."""

from anatomy.engine.cards.card import Card, as_html, as_text, headline, ungraded

__all__ = ["Card", "as_html", "as_text", "headline", "ungraded"]
