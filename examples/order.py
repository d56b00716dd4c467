"""A tool that returns an image and a PDF at once: `showandtell ask 'Show me order 7.' --tools order:show_order`."""

from showandtell import File, ToolResult
from showandtell.samples import folder


def show_order(number: int) -> ToolResult:
    """Show an order: a photo of what was sold, and its invoice."""
    photo, invoice = File.from_path(folder() / "kiwi.jpg"), File.from_path(folder() / "invoice.pdf")
    return ToolResult(f"Order {number}:", photo, invoice)
