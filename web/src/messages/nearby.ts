// Tells elements of the messages when they come near the viewport, and when they are far again, by one observer.

const listeners = new WeakMap<Element, (isNear: boolean) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) listeners.get(entry.target)?.(entry.isIntersecting);
  },
  // The list is its own scroll container, so `scrollMargin` applies instead of `rootMargin`.
  { scrollMargin: "2000px" } as IntersectionObserverInit,
);

/** Calls `listener` once it is known whether the element is near, and when that changes. Gives what ends it. */
export function watchNearby(element: Element, listener: (isNear: boolean) => void): () => void {
  listeners.set(element, listener);
  observer.observe(element);
  return () => observer.unobserve(element);
}

/** A ref for a message: it is laid out before it comes into view, so that nothing moves when it does. */
export function layOutNearby(element: Element | null): void {
  if (element) watchNearby(element, (isNear) => element.toggleAttribute("data-near", isNear));
}
