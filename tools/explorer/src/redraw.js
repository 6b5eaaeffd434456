/* Drawing a part of the page again. */

import { currentTheme } from "./color.js";

/**
 * Fills an element with what `build(store)` gives, now and whenever something that it depends on has changed.
 *
 * `depends(store)` lists these values. `build` gives nodes, or null: then the element is hidden. The focus stays on the
 * control with the same `data-key`; where that is gone, it goes to the heading, if this takes it.
 */
export function drawn(element, store, depends, build) {
  let last = [];
  const draw = () => {
    const now = [...depends(store), currentTheme()];
    if (now.length === last.length && now.every((each, index) => each === last[index])) return;
    last = now;
    const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const nodes = build(store);
    element.hidden = nodes === null;
    element.replaceChildren(...(nodes ?? []));
    if (key === undefined) return;
    const control = element.querySelector(`[data-key="${CSS.escape(key)}"]:enabled`) ?? element.querySelector("h2[tabindex]");
    control?.focus({ preventScroll: true });
  };
  draw();
  return store.subscribe(draw);
}
