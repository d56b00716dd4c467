"""Accepts results of tools: bounds their text, so that stored ones and prompts stay as they are, and probes files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TypeAlias

from showandtell.agent.execute import error_result, redact
from showandtell.core.collect.bounds import bound_text, count_characters, for_user
from showandtell.core.collect.tool_result import ToolResult, metadata_problem, result_draft
from showandtell.core.messages.attachments import ProbedFile
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import ToolCall
from showandtell.errors import StorageFailed
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.conversations.protocol import Conversation

Ready: TypeAlias = tuple[Draft, Sequence[ProbedFile]]

log = logging.getLogger("showandtell.tools")

NOT_STORED = "was not stored before the run ended: ask the model to make it again"


def not_stored(draft: Draft) -> list[ProbedFile]:
    """The files of a draft as they are numbered if the run ends before they are stored."""
    return [ProbedFile(file.name or "", problem=NOT_STORED) for file in draft.claims]


def is_bounded(draft: Draft, limit: int | None) -> bool:
    """Whether a result is within the limit."""
    return limit is None or max(count_characters(draft), count_characters(draft, for_user)) <= limit


async def bound_result(draft: Draft, limit: int | None, *, can_read: bool) -> Draft:
    """The draft of a result within the limit. Long ones are cut in a thread: that takes as long as they are.

    `can_read`: whether the model has `get_document`. If not, the log tells the developer.
    """
    if limit is None or is_bounded(draft, limit):
        return draft
    characters = count_characters(draft)
    if characters > limit and not can_read:
        log.warning(
            "tool %s returned %s characters, and the model gets %s of them: add get_document to the agent's tools, "
            "so that it can read the rest",
            draft.tool,
            f"{characters:,}",
            f"{limit:,}",
        )
    return await run_in_thread(bound_text, draft, limit)


async def accept_result(
    call: ToolCall, result: ToolResult, conversation: Conversation, limit: int | None, *, can_read: bool
) -> Ready:
    """The draft of a result within the limit, and its probed files."""
    if problem := metadata_problem(result):
        log.warning("tool %s: the metadata of its result is not stored: %s", call.tool, problem)
    draft = result_draft(call, result)
    try:
        draft = await bound_result(draft, limit, can_read=can_read)
        return draft, await conversation.probe(draft)
    except StorageFailed:
        raise
    except asyncio.CancelledError:  # the tool has finished, so keep its result without the files
        draft = draft if limit is None else bound_text(draft, limit)
        return draft, not_stored(draft)
    except Exception as error:  # noqa: BLE001 - a tool's own file reader may raise anything
        return result_draft(call, error_result(redact(call, error))), ()
