// Zooming and panning a picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, seededRandom } from "./bundle.mjs";

const { clampZoom, pan, visiblePart, WHOLE, zoomAt } = await load("files/zoom.ts");
const { nameOfPart } = await load("files/crop.ts");
const { fit } = await load("files/fitting.ts");

test("the point under the pointer stays there while zooming", () => {
  const random = seededRandom(3);
  for (let run = 0; run < 500; run += 1) {
    const from = { scale: 1 + random(300) / 100, x: random(200) - 100, y: random(200) - 100 };
    const point = { x: random(800) - 400, y: random(600) - 300 };
    const to = zoomAt(from, 1.2, point);
    const pointOn = (zoom) => [(point.x - zoom.x) / zoom.scale, (point.y - zoom.y) / zoom.scale];
    pointOn(to).forEach((value, axis) => assert.ok(Math.abs(value - pointOn(from)[axis]) < 1e-6));
  }
});

test("a picture that fits is neither shrunk nor moved", () => {
  assert.deepEqual(zoomAt({ scale: 2, x: 50, y: 9 }, 0.1, { x: 3, y: 4 }), WHOLE);
  assert.deepEqual(clampZoom(pan(WHOLE, { x: 500, y: -500 }), { width: 300, height: 200 }, { width: 800, height: 600 }), WHOLE);
});

test("the edges of a large picture stay outside the view", () => {
  const clamped = clampZoom({ scale: 4, x: 9999, y: -9999 }, { width: 400, height: 100 }, { width: 800, height: 600 });
  assert.deepEqual(clamped, { scale: 4, x: 400, y: 0 });
});

test("the part in view is what lies between the edges of the pane", () => {
  const [shown, pane] = [{ width: 400, height: 200 }, { width: 400, height: 300 }];
  assert.deepEqual(visiblePart(WHOLE, shown, pane), { left: 0, top: 0, width: 1, height: 1 });
  assert.deepEqual(visiblePart({ scale: 4, x: 0, y: 0 }, shown, pane), { left: 0.375, top: 0.3125, width: 0.25, height: 0.375 });
  const corner = clampZoom({ scale: 4, x: 9999, y: 9999 }, shown, pane);
  assert.deepEqual(visiblePart(corner, shown, pane), { left: 0, top: 0, width: 0.25, height: 0.375 });
});

test("a part is a PNG with the name of its picture", () => {
  assert.deepEqual(["chart.v2.jpg", "scan"].map(nameOfPart), ["chart.v2-part.png", "scan-part.png"]);
});

test("a box keeps the aspect ratio of its picture and never enlarges it", () => {
  assert.deepEqual(fit({ width: 9000, height: 3000 }, { width: 440, height: 330 }), { width: 440, height: 147 });
  assert.deepEqual(fit({ width: 24, height: 24 }, { width: 440, height: 330 }), { width: 24, height: 24 });
  assert.deepEqual(fit({ width: 1, height: 100_000 }, { width: 440, height: 330 }), { width: 1, height: 330 });
});
