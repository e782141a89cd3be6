// The database of the page in the browser: what waits to be sent, and what is shown without a connection.

let database = null;

function open() {
  database ??= new Promise((resolve, reject) => {
    const opening = indexedDB.open("chat", 2);
    opening.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) opening.result.createObjectStore("outbox", { keyPath: "order", autoIncrement: true });
      if (oldVersion < 2) opening.result.createObjectStore("kept", { keyPath: "key" });
    };
    opening.onsuccess = () => {
      // Another tab has a page of a later version.
      opening.result.onversionchange = () => {
        opening.result.close();
        database = null;
      };
      resolve(opening.result);
    };
    opening.onerror = () => reject(opening.error);
  });
  return database;
}

/** Runs a transaction on one store, and returns the result of its request when it is on the disk. */
export async function transaction(name, mode, body) {
  const opened = await open();
  return new Promise((resolve, reject) => {
    const running = opened.transaction(name, mode, { durability: "strict" });
    const result = body(running.objectStore(name));
    running.oncomplete = () => resolve(result?.result);
    running.onabort = () => reject(running.error);
  });
}
