// Moving and enlarging a picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, load } from "./bundle.mjs";

const { hold, pan, WHOLE, zoomAt } = await load("files/zoom.ts");
const { fit } = await load("files/fitting.ts");

test("what is under the pointer stays there while it grows", () => {
  const roll = dice(3);
  for (let turn = 0; turn < 500; turn += 1) {
    const from = { scale: 1 + roll(300) / 100, x: roll(200) - 100, y: roll(200) - 100 };
    const point = { x: roll(800) - 400, y: roll(600) - 300 };
    const to = zoomAt(from, 1.2, point);
    const seen = (zoom) => [(point.x - zoom.x) / zoom.scale, (point.y - zoom.y) / zoom.scale];
    seen(to).forEach((value, at) => assert.ok(Math.abs(value - seen(from)[at]) < 1e-6));
  }
});

test("a picture is never smaller than whole, nor moved while it is whole", () => {
  assert.deepEqual(zoomAt({ scale: 2, x: 50, y: 9 }, 0.1, { x: 3, y: 4 }), WHOLE);
  assert.deepEqual(hold(pan(WHOLE, { x: 500, y: -500 }), { width: 300, height: 200 }, { width: 800, height: 600 }), WHOLE);
});

test("no edge of a large picture comes further in than it must", () => {
  const held = hold({ scale: 4, x: 9999, y: -9999 }, { width: 400, height: 100 }, { width: 800, height: 600 });
  assert.deepEqual(held, { scale: 4, x: 400, y: 0 });
});

test("a box keeps the shape of its picture, and never enlarges it", () => {
  assert.deepEqual(fit({ width: 9000, height: 3000 }, { width: 440, height: 330 }), { width: 440, height: 147 });
  assert.deepEqual(fit({ width: 24, height: 24 }, { width: 440, height: 330 }), { width: 24, height: 24 });
  assert.deepEqual(fit({ width: 1, height: 100_000 }, { width: 440, height: 330 }), { width: 1, height: 330 });
});
