"""The attachments of two conversations, for tests of references: twelve files, and two with one name."""

from showandtell.core.messages.attachments import Attachment, Facts, Origin

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def attach(number, name, media_type, tool=None, problem=None):
    origin = Origin("tool", tool, f"call_{number}") if tool else Origin("user")
    facts = None if problem else Facts(f"{number:064x}", media_type, number)
    return Attachment(f"att_{number}", number, name, origin, "2026-01-31", facts, None, problem, claimed=media_type)


def converse(*files):
    return {number: attach(number, *item) for number, item in enumerate(files, 1)}


RENOVATION = converse(
    ("kitchen.jpg", "image/jpeg"),
    ("invoice.pdf", "application/pdf"),
    ("accent_wall.png", "image/png", "gdrive_display_image"),
    ("sales_chart.png", "image/png", "make_chart"),
    ("floor_plan.png", "image/png", "gdrive_display_image"),
    ("memo.mp3", "audio/mpeg"),
    ("Q3 report.docx", WORD, "drive_search"),
    ("costs_chart.png", "image/png", "make_chart"),
    ("tour.mp4", "video/mp4"),
    ("harbour.png", "image/png"),
    ("notes.md", "text/markdown"),
    ("broken.heic", "image/heic", None, "is no image"),
)
TWO = converse(("plan.png", "image/png"), ("plan.png", "image/png", "makeSketch_drawing"))
