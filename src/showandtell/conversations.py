"""The protocol of conversations, the base of those in a store of your own, and the values that it stores.

>>> from showandtell.conversations import AcceptedMessage, MemoryConversation, Step
>>> class Logged(MemoryConversation):
...     async def write(self, accepted: AcceptedMessage, step: Step | None) -> AcceptedMessage:
...         print("storing", accepted.message.role)
...         return await super().write(accepted, step)
>>> from showandtell import Agent
>>> run = Agent("inspector").run_sync("hello", conversation=Logged())
storing user
storing assistant
"""

from showandtell.core.messages.attachments import Attachment, ProbedFile
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.planning.step_record import Step
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.protocol import Conversation
from showandtell.storage.files.numbering import AcceptedMessage

__all__ = [
    "AcceptedMessage",
    "Attachment",
    "Conversation",
    "DerivationRequest",
    "Derivative",
    "Failed",
    "MemoryConversation",
    "ProbedFile",
    "Step",
]
