// Draws diagrams by mermaid. It runs in a document of its own, without origin, network and access to the page: the source
// of a diagram may be hostile, and mermaid has had holes. What is drawn is shown by the page as an image.
import mermaid from "mermaid";
import type { Drawing, DrawingReply, DrawingRequest, Look } from "./protocol";

addEventListener("message", ({ source, data }: MessageEvent<DrawingRequest>) => {
  if (source !== parent) return;
  const reply = (drawing: Drawing | null) => parent.postMessage({ id: data.id, drawing } satisfies DrawingReply, "*");
  draw(data.source, data.look).then(reply, () => reply(null));
});

/** https://mermaid.js.org/config/schema-docs/config.html */
async function draw(source: string, look: Look): Promise<Drawing> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "layout", "htmlLabels"],
    maxTextSize: 20_000,
    maxEdges: 250,
    suppressErrorRendering: true,
    layout: "dagre",
    htmlLabels: false, // images show HTML in few browsers
    fontFamily: look.font,
    theme: "base",
    themeVariables: variablesOf(look),
  });
  const { svg } = await mermaid.render("diagram", source);
  const place = document.createElement("div");
  place.innerHTML = svg;
  const drawn = place.querySelector("svg");
  if (!drawn) throw new Error("mermaid has drawn nothing");
  const { width, height } = drawn.viewBox.baseVal;
  drawn.setAttribute("width", `${width}`);
  drawn.setAttribute("height", `${height}`);
  drawn.style.backgroundColor = look.colours.sunken;
  drawn.style.maxWidth = "none";
  const title = drawn.querySelector(":scope > title")?.textContent ?? "";
  return { svg: new XMLSerializer().serializeToString(drawn), width, height, title };
}

/** https://mermaid.js.org/config/theming.html */
function variablesOf({ dark, font, colours }: Look) {
  const strong = [colours.accent, colours.good, colours.warn, colours.bad, colours["ink-soft"], colours["line-strong"]];
  const soft = [colours["accent-soft"], colours["good-soft"], colours["warn-soft"], colours["bad-soft"], colours.sunken];
  /** `pie1`, `pie2` and so on: `count` names with these values in turn. */
  const named = (name: string, count: number, values: readonly string[], from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index + from}`, values[index % values.length]]));
  return {
    darkMode: dark,
    useGradient: false,
    fontFamily: font,
    fontSize: "15px",
    background: colours.sunken,
    primaryColor: colours["accent-soft"],
    primaryTextColor: colours.ink,
    primaryBorderColor: colours.accent,
    secondaryColor: colours["good-soft"],
    secondaryBorderColor: colours.good,
    tertiaryColor: colours.surface,
    tertiaryBorderColor: colours["line-strong"],
    lineColor: colours["ink-soft"],
    textColor: colours.ink,
    titleColor: colours.ink,
    edgeLabelBackground: colours.sunken,
    clusterBkg: colours.surface,
    clusterBorder: colours["line-strong"],
    noteBkgColor: colours["warn-soft"],
    noteBorderColor: colours.warn,
    noteTextColor: colours.ink,
    critBkgColor: colours["bad-soft"],
    critBorderColor: colours.bad,
    taskTextOutsideColor: colours.ink,
    taskTextDarkColor: colours.ink,
    gridColor: colours.line,
    sectionBkgColor: colours.surface,
    sectionBkgColor2: colours.surface,
    altSectionBkgColor: colours.sunken,
    pieStrokeColor: colours.sunken,
    pieOuterStrokeWidth: "0",
    pieSectionTextColor: colours.surface,
    pieOpacity: "1",
    ...named("pie", 12, strong, 1),
    ...named("git", 8, strong),
    ...named("gitBranchLabel", 8, [colours.surface]),
    ...named("cScale", 12, soft),
    ...named("cScaleLabel", 12, [colours.ink]),
    ...named("cScaleInv", 12, [colours["line-strong"]]),
    ...named("cScalePeer", 12, strong),
    ...named("fillType", 8, soft),
    xyChart: { plotColorPalette: strong.join(", ") },
  };
}
