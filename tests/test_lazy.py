"""Imports on first use."""

import sys

import pytest

from showandtell.lazy import LazyModule


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "seldom_used.py").write_text("VALUE = [1]\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield LazyModule("seldom_used")
    sys.modules.pop("seldom_used", None)


def test_a_lazy_module_is_imported_when_one_of_its_names_is_used(module):
    assert "seldom_used" not in sys.modules
    assert module.VALUE is sys.modules["seldom_used"].VALUE
    assert module.VALUE is module.VALUE


def test_a_name_that_the_module_lacks_is_an_attribute_error_as_of_any_module(module):
    with pytest.raises(AttributeError, match="module 'seldom_used' has no attribute 'NONE'"):
        _ = module.NONE
    assert not hasattr(module, "OTHER")
