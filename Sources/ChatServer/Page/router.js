// The addresses of the views. They are in the fragment, so that every one of them is the same page for the server.

/** Returns the parts of the address: `#/t/ID/people` is ["t", "ID", "people"]. */
export function parts(hash = location.hash) {
  return hash.replace(/^#\/?/, "").split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/** Returns the link to a view. */
export const link = (...names) => "#/" + names.map(encodeURIComponent).join("/");

/** Goes to a view. With `replace` the present one is not kept in the history. */
export function go(names, { replace = false } = {}) {
  const target = link(...names);
  if (location.hash === target) return;
  if (replace) {
    history.replaceState(null, "", target);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = target;
  }
}
