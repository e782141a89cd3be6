// The service worker: starts the page from files that it keeps, without a connection too. It keeps no answers of the API.
// The server puts two constants before this text: `version`, a digest of the page's files, and `shell`, their paths.

const name = `shell ${version}`;

addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(name);
    // The document has one path in all versions: it is never taken from the browser's own cache.
    await cache.addAll(shell.map((path) => new Request(path, { cache: path === "/" ? "no-cache" : "default" })));
    await skipWaiting();
  })());
});

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const other of await caches.keys()) if (other !== name) await caches.delete(other);
    await clients.claim();
  })());
});

addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin || !shell.includes(pathname)) return;
  event.respondWith((async () => (await (await caches.open(name)).match(pathname)) ?? fetch(event.request))());
});
