// What is on the screen. The browser is asked, here alone: it knows what is scrolled away, folded up or covered by another view.

/** Of what is higher than the window, its first lines are enough, which have so many pixels. */
const firstLines = 80;
/** So many pixels may lack. */
const tolerance = 8;
const shares = Array.from({ length: 21 }, (_, index) => index / 20);

const visible = new WeakSet();
const listeners = new Set();
const tell = () => { for (const listener of [...listeners]) listener(); };

const observer = new IntersectionObserver((records) => {
  for (const { target, isIntersecting, intersectionRect, boundingClientRect } of records) {
    if (isIntersecting && intersectionRect.height >= Math.min(boundingClientRect.height, firstLines) - tolerance) visible.add(target);
    else visible.delete(target);
  }
  tell();
}, { threshold: shares });
document.addEventListener("visibilitychange", tell);
// Of a dialog, which does not bubble.
document.addEventListener("close", tell, true);

/** Returns which of some elements are on the screen, in a tab that is shown, without a dialog above it. The browser tells it of
 * new elements soon after the first call. */
export function onScreen(elements) {
  for (const element of elements) observer.observe(element);
  if (document.visibilityState !== "visible" || document.querySelector("dialog[open]")) return [];
  return elements.filter((element) => element.isConnected && visible.has(element));
}

/** Calls a function when something may have come to the screen or left it. Returns a function that ends this. */
export function onScreenChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
