// KaTeX with its style sheet and fonts, and what copies a formula as its source: KaTeX's own way writes HTML, which this
// page allows to nobody.
import "katex/dist/katex.min.css";

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed || !event.clipboardData) return;
  const range = selection.getRangeAt(0).cloneRange();
  const [first, last] = [range.startContainer, range.endContainer].map(formulaOf);
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const copy = document.createElement("div");
  copy.append(range.cloneContents());
  const formulas = copy.querySelectorAll<HTMLElement>(".formula");
  if (!formulas.length) return;
  for (const formula of formulas) formula.textContent = formula.dataset["source"] ?? "";
  copy.className = "copied";
  document.body.append(copy); // line breaks between blocks are a matter of layout
  event.clipboardData.setData("text/plain", copy.innerText);
  copy.remove();
  event.preventDefault();
});

const formulaOf = (node: Node) => (node instanceof Element ? node : node.parentElement)?.closest(".formula");

export { default } from "katex";
