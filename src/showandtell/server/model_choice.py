"""Choose the model and the settings of a run, new ones or those of the answer that it continues."""

from __future__ import annotations

from msgspec import Struct, structs

from showandtell.errors import UnknownModel
from showandtell.server.auth.authenticate import User
from showandtell.server.chat_request import ChatRequest
from showandtell.server.runs.stored_settings import read_settings
from showandtell.server.state import Server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.access import NO_TEXT
from showandtell.storage.conversations.heads import Head
from showandtell.storage.conversations.runs import RunRow
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.database.rows import serialize

#: Maximum length of a model's name: agents are cached by it.
MAX_MODEL_NAME = 500


class ModelChoice(Struct, frozen=True):
    """The model of a run, and the settings to store with it."""

    model: str
    settings: str


async def choose_model(
    server: Server, user: User, request: ChatRequest, conversation: StoredConversation, head: Head
) -> ModelChoice:
    """The model of the request, of the answer that it continues, of the conversation, of the user, or of the server.

    Raises before anything is stored.
    """
    preferences = head.preferences
    continued = await find_continued(server, request, conversation)
    if continued is not None and continued.settings is not None:
        settings = continued.settings
        if continued.user_id != user.name:  # whose instructions are private
            settings = serialize(structs.replace(read_settings(settings), instructions=preferences.instructions))
        model = check_model(request.model or continued.model)
    else:
        model = check_model(request.model or server.catalog.choose(head.settings.model or preferences.model))
        settings = server.agents.new_settings(model, preferences.instructions, head.settings)
    await server.agents.get(model, settings, user.name)
    return ModelChoice(model, settings)


def check_model(model: str) -> str:
    """Return the name of a model. Raises `UnknownModel` for text that no name is."""
    if len(model) > MAX_MODEL_NAME or NO_TEXT.search(model):
        raise UnknownModel(f"there is no model {model!r:.40}: use up to {MAX_MODEL_NAME} characters, without NUL")
    return model


async def find_continued(server: Server, request: ChatRequest, conversation: StoredConversation) -> RunRow | None:
    """The last run of the answer that a request continues; None if it doesn't, or no server stored that answer."""
    if not request.is_continuation or (question := conversation.view().answering) is None:
        return None
    return await runs.find_last_of(server.store.database, conversation.id, question)
