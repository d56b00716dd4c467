"""The file of learned models: kept for a day, shared by all programs of a user, never needed."""

import msgspec
import pytest

from showandtell.config.learned_models import LIFETIME, PAUSE, LearnedModels, ModelKey
from showandtell.core.capabilities.modalities import ListedWindow, Modality


def test_what_was_learned_counts_for_a_day_and_can_be_forgotten(tmp_path):
    now = [1000.0]
    models = LearnedModels(tmp_path / "models.json", clock=lambda: now[0])
    key, other = ModelKey("https://a", "vllm:qwen"), ModelKey("https://b", "vllm:qwen")
    blind = Modality("image", False, "it said so", "2026-11-23", now[0] + LIFETIME)
    models.learn(key, [blind])
    models.learn(other, [msgspec.structs.replace(blind, kind="audio")])
    assert LearnedModels(tmp_path / "models.json", clock=lambda: now[0]).find(key).modalities == (blind,)
    assert models.forget("vllm:other") == ()
    now[0] += LIFETIME
    assert (models.all, models.find(key).modalities) == ((), ())
    now[0] -= 1
    assert len(models.forget("vllm:qwen")) == 2
    assert models.all == ()


class EarlierModel(msgspec.Struct, frozen=True):
    """What versions without windows read."""

    key: ModelKey
    modalities: tuple[Modality, ...]


def test_files_of_versions_with_and_without_windows_are_read_by_both(tmp_path):
    path, key = tmp_path / "models.json", ModelKey("https://a", "vllm:qwen")
    LearnedModels(path).learn(key, [], ListedWindow(8_192, "its host lists it", "2026-11-26", 1e12))
    assert msgspec.json.decode(path.read_bytes(), type=tuple[EarlierModel, ...]) == (EarlierModel(key, ()),)
    blind = Modality("image", False, "it said so", "2026-11-26", 1e12)
    path.write_bytes(msgspec.json.encode([EarlierModel(key, (blind,))]))
    assert (LearnedModels(path).find(key).modalities, LearnedModels(path).find(key).window) == ((blind,), None)


@pytest.mark.parametrize("written", [b"", b"[", b'[{"key": 1}]', b"\xff"])
def test_a_damaged_file_of_learned_models_counts_as_empty(tmp_path, written):
    path = tmp_path / "models.json"
    path.write_bytes(written)
    assert LearnedModels(path).all == ()


def test_without_a_folder_to_write_to_the_process_remembers(tmp_path):
    (tmp_path / "file").write_text("no folder")
    models = LearnedModels(tmp_path / "file" / "models.json")
    key = ModelKey("https://a", "vllm:qwen")
    models.learn(key, [Modality("image", False, "it said so", "2026-11-23", 1e12)])
    assert [found.kind for found in models.find(key).modalities] == ["image"]


def test_an_entry_of_another_process_counts_at_once(tmp_path):
    first, second = (LearnedModels(tmp_path / "models.json") for _ in range(2))
    key = ModelKey("https://a", "vllm:qwen")
    assert second.find(key).modalities == ()
    first.learn(key, [Modality("image", False, "it said so", "2026-11-23", 1e12)])
    second.learn(key, [Modality("audio", True, "its host lists it", "2026-11-23", 1e12)])
    assert {(found.kind, found.takes) for found in first.find(key).modalities} == {("image", False), ("audio", True)}


def test_a_host_is_not_asked_again_within_five_minutes_unless_everything_is_cleared(tmp_path):
    now = [0.0]
    models, key = LearnedModels(tmp_path / "models.json", clock=lambda: now[0]), ModelKey("https://a", "vllm:qwen")
    assert [models.may_ask(key), models.may_ask(key)] == [True, False]
    now[0] += PAUSE
    assert models.may_ask(key)
    models.forget()
    assert models.may_ask(key)


def test_a_window_counts_for_a_day_beside_what_is_learned_later(tmp_path):
    now = [1_000.0]
    learned = LearnedModels(tmp_path / "models.json", lambda: now[0])
    key = ModelKey("http://host/v1", "vllm:m")
    window = ListedWindow(8192, "its host lists it", "2026-11-26", now[0] + LIFETIME)
    learned.learn(key, (), window)
    learned.learn(key, [Modality("image", True, "it took one", "2026-11-26", now[0] + LIFETIME)])
    assert LearnedModels(tmp_path / "models.json", lambda: now[0]).find(key).window == window
    now[0] += LIFETIME
    assert learned.find(key).window is None
