"""Choose the model and the settings of a run, new ones or those of the answer that it continues."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct, structs

from showandtell.core.capabilities.registry import INSPECTOR
from showandtell.errors import StorageFailed, UnknownModel
from showandtell.server.auth.authenticate import User
from showandtell.server.chat_request import ChatRequest
from showandtell.server.runs.stored_settings import read_settings
from showandtell.server.state import Server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.access import NO_TEXT
from showandtell.storage.conversations.heads import Head
from showandtell.storage.conversations.preferences import Preferences, change_preferences
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
    """The model of the request, of the answer that it continues, of the conversation, or of new ones (`default_of`).

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
        model = check_model(request.model or await default_of(server, user, head.settings.model, preferences))
        settings = server.agents.new_settings(model, preferences.instructions, head.settings)
    await server.agents.get(model, settings, user.name)
    return ModelChoice(model, settings)


async def default_of(server: Server, user: User, own: str | None, preferences: Preferences) -> str:
    """The model of a conversation that names none. `own` is that of its settings."""
    return await server.catalog.choose(own or preferences.model, user.name, preferences.used)


async def remember_model(server: Server, user: User, model: str, preferences: Preferences) -> None:
    """Keep which model a user used last, for new conversations. The inspector is not one to come back to."""
    if model == preferences.used or server.agents.target_of(model).provider == INSPECTOR:
        return
    with suppress(StorageFailed):  # the answer is more important
        await change_preferences(server.store.database, user.name, used=model)


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
