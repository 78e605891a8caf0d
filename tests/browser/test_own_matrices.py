"""Attention from a file in a browser: chosen, drawn, a long head fetched exactly, taken away; nothing to step through."""

import io

import numpy as np
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage

LAYERS, HEADS, LENGTH = 2, 3, 130  # above 128 tokens heads are fetched when they are opened


def test_a_file_is_drawn_and_its_heads_are_exact(open_page: OpenPage) -> None:
    drawn = np.random.default_rng(0).random((LAYERS, HEADS, LENGTH, LENGTH)).astype(np.float32) ** 8
    weights = drawn / drawn.sum(-1, keepdims=True)
    file = io.BytesIO()
    np.savez_compressed(file, attention=weights.astype(np.float16), tokens=np.array([f"w{at}" for at in range(LENGTH)]))

    page = open_page("own")
    section = page.locator(".st-key-own_matrices_title")
    section.locator("input[type=file]").set_input_files(
        {"name": "<b>mine</b>.npz", "mimeType": "application/octet-stream", "buffer": file.getvalue()}
    )
    expect(section).to_contain_text("<b>mine</b>.npz: One attention with tokens.")
    expect(section).to_contain_text(f"Encoder self-attention: {LAYERS} layers, {HEADS} heads, {LENGTH} × {LENGTH}.")
    page.get_by_test_id("map-encoder.self_attention-1-2").click()
    expect(page.get_by_test_id("loading")).to_be_hidden()
    matrix = page.get_by_test_id("opened").get_by_test_id("matrix")
    matrix.focus()
    page.keyboard.press("Control+End")
    said = page.get_by_test_id("live")
    expect(said).to_contain_text(f"{float(weights.astype(np.float16)[1, 2, -1, -1]):.4f}")
    expect(said).to_contain_text(f"(position {LENGTH - 1})")
    expect(page.get_by_test_id("step-into")).to_be_hidden()

    page.locator(".st-key-own_away button").click()
    expect(page.get_by_test_id("overview")).to_have_count(0)
    expect(section.locator("input[type=file]")).to_have_count(1)
