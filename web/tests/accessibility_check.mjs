// Runs axe-core on the state of a page, in light and dark mode, in the size of a desktop and of a phone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
export const [DESKTOP, PHONE] = [{ width: 1280, height: 800 }, { width: 390, height: 844 }];
/** `make test` checks the first two, `make stress` all. */
const DISPLAYS = [
  { colorScheme: "light", viewport: DESKTOP },
  { colorScheme: "dark", viewport: PHONE },
  { colorScheme: "dark", viewport: DESKTOP },
  { colorScheme: "light", viewport: PHONE },
];

/** Rules whose result depends on the display. */
const DISPLAY_RULES = ["color-contrast", "target-size", "scrollable-region-focusable", "meta-viewport"];

/** Fails if axe finds a violation in the page's current state. */
export async function checkAccessibility(page, count) {
  await page.evaluate(axe);
  const violations = [];
  for (const [index, { colorScheme, viewport }] of DISPLAYS.slice(0, count).entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize(viewport);
    await page.evaluate(finishTransitions);
    const rules = index ? { runOnly: DISPLAY_RULES } : {};
    const report = await page.evaluate((rules) => window.axe.run(document, { resultTypes: ["violations"], ...rules }), rules);
    for (const { id, nodes } of report.violations)
      for (const { html, failureSummary } of nodes.slice(0, 3))
        violations.push(`${colorScheme} ${viewport.width}: ${id}: ${html.slice(0, 200)} ${failureSummary.split("\n")[1] ?? ""}`);
  }
  assert.equal(violations.join("\n"), "");
}

/** Finishes the transitions of colors to the other display, until none starts for three frames. */
async function finishTransitions() {
  const nextFrame = () => new Promise((next) => requestAnimationFrame(next));
  for (let quiet = 0; quiet < 3; ) {
    await nextFrame();
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    for (const transition of transitions) transition.finish();
    quiet = transitions.length ? 0 : quiet + 1;
  }
}
