// The icon of the page in the list of tabs, with a badge for what is unread.

const icon = document.querySelector('link[rel="icon"]');
const address = icon.href;
const most = 9;
let drawing = null;
let shown = "";

/** Shows the number of unread entries of the inbox, or else a dot if a message is unread, or the plain icon. */
export async function showBadge(count, hasUnread) {
  const text = count > most ? `${most}+` : count ? String(count) : hasUnread ? "•" : "";
  if (shown === text) return;
  shown = text;
  if (!text) {
    icon.href = address;
    return;
  }
  try {
    drawing ??= await (await fetch(address)).text();
  } catch {
    // Without a connection the icon has no badge; the next change tries again.
    shown = "";
    return;
  }
  // A later call has the later number.
  if (shown !== text) return;
  const badge = `<circle cx="44" cy="20" r="20" fill="#a92b22"/><text x="44" y="31" font-family="sans-serif" font-size="30" font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  icon.href = "data:image/svg+xml," + encodeURIComponent(drawing.replace("</svg>", badge));
}
