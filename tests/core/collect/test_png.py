"""Our PNGs hold every pixel, whatever their shape and layout in memory."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell.core.collect.png import AVERAGE, NO_FILTER, choose_filter, encode_png


def decode(data):
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return np.asarray(image)


def random_pixels(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


@given(st.integers(1, 140), st.integers(1, 40), st.sampled_from([(), (1,), (3,), (4,)]), st.sampled_from([1, 50, 255]))
def test_a_decoder_finds_the_same_pixels(height, width, channels, colours):
    pixels = random_pixels(height, width, *channels) // colours
    assert np.array_equal(decode(encode_png(pixels)), pixels[..., 0] if channels == (1,) else pixels)


@pytest.mark.parametrize("part", [np.s_[::-1], np.s_[:, ::2], np.s_[5:9, 3:4], np.s_[..., ::-1]])
def test_views_are_encoded_as_they_are_seen(part):
    pixels = random_pixels(70, 20, 3)[part]
    assert np.array_equal(decode(encode_png(pixels)), pixels)


def test_a_mask_is_black_and_white():
    mask = np.eye(80, dtype=bool)
    assert np.array_equal(decode(encode_png(mask)), mask * np.uint8(255))


def test_photos_are_filtered_and_flat_colours_are_not():
    row = np.cumsum(random_pixels(1, 900) % 5, axis=1, dtype=np.uint8)
    gradient = np.repeat((row + random_pixels(90, 900) % 3)[..., None], 3, axis=2)
    stripes = np.repeat(random_pixels(90, 9, 3), 100, axis=1)
    assert (choose_filter(gradient), choose_filter(stripes)) == (AVERAGE, NO_FILTER)
