// The marks that people type in chats, as elements: bold, italic, struck through, code, quotes, lists and links. A part of
// CommonMark, with these differences: a line break is one, nothing is HTML, and a single * or _ inside a word is a character.

import { h } from "./dom.js";

/** Blocks inside blocks, such as quotes of quotes, have at most this depth; deeper marks are text. */
const mostDepth = 5;

/** Returns the nodes of a text. `mentioned` has the people whom it mentions: `id`, `name` and `isMe`. */
export function markdown(text, mentioned = []) {
  return blocks(text.split("\n"), mentioned, 0);
}

/** The beginning of a text without its marks, whose blocks are on lines of their own. */
export function plainText(text) {
  const element = h("div", {}, markdown(text.slice(0, 1_000)));
  for (const block of element.querySelectorAll("li, pre, blockquote")) block.before("\n", block.matches("ol > li") ? `${block.value}${block.parentNode.className ? ")" : "."} ` : "");
  return element.textContent;
}

// The joining of the modules takes a backquote of an expression for a template.
const fence = /^\x60{3}[\w+#.-]{0,20}\s*$/;
const beginsQuote = /^>+ +\S/;
const quoted = /^>(?=>*(?: |$)) ?/;
// A longer number is a year, for example, and has no room in the margin.
const item = /^(?:[-*+]|(\d{1,2})([.)])) +(?=\S)/;

function blocks(lines, mentioned, depth) {
  const nodes = [];
  let text = [];
  const endText = () => {
    // An expression for this would look at a long run of empty lines again from each of them.
    const first = text.findIndex((line) => line !== "");
    if (first >= 0) nodes.push(...inline(text.slice(first, text.findLastIndex((line) => line !== "") + 1).join("\n"), mentioned));
    text = [];
  };
  // Where no further fence follows, none is looked for again.
  let lastFence = lines.length;
  while (lastFence > 0 && lines[lastFence - 1].trim() !== "\x60\x60\x60") lastFence -= 1;
  for (let index = 0; index < lines.length;) {
    const line = lines[index];
    if (fence.test(line) && index < lastFence - 1) {
      let end = index + 1;
      while (lines[end].trim() !== "\x60\x60\x60") end += 1;
      endText();
      nodes.push(h("pre", {}, h("code", { dir: "ltr" }, lines.slice(index + 1, end).join("\n"))));
      index = end + 1;
    } else if (depth < mostDepth && beginsQuote.test(line)) {
      const start = index;
      while (index < lines.length && quoted.test(lines[index])) index += 1;
      endText();
      nodes.push(h("blockquote", {}, blocks(lines.slice(start, index).map((line) => line.replace(quoted, "")), mentioned, depth + 1)));
    } else if (depth < mostDepth && item.test(line)) {
      const start = index;
      const items = [];
      const mark = item.exec(line)[2] ?? "";
      while (index < lines.length && item.test(lines[index]) && (item.exec(lines[index])[2] ?? "") === mark) {
        const first = index;
        index += 1;
        // Lines that are indented belong to the item above.
        while (index < lines.length && /^ {2,}\S/.test(lines[index])) index += 1;
        items.push(lines.slice(first, index));
      }
      if (items.every(([first]) => /^[-+] +\d/.test(first))) {
        // Signs of numbers.
        text.push(...lines.slice(start, index));
      } else {
        endText();
        nodes.push(h(mark ? "ol" : "ul", { class: mark === ")" ? "bracket" : null }, items.map(([first, ...others]) => h("li", { value: item.exec(first)[1] }, blocks(
          [first.replace(item, ""), ...others.map((line) => line.replace(/^ {2,4}/, ""))], mentioned, depth + 1)))));
      }
    } else {
      text.push(line);
      index += 1;
    }
  }
  endText();
  return nodes;
}

const domains = "com|org|net|edu|gov|int|info|io|app|dev|eu|uk|ie|scot|wales|london|de|fr|nl|be|es|it|ch|at|pl|se|dk|no|fi|pt|us|ca|au|nz|in|me";
// A link has no control or format character, which could hide where it leads.
const rest = "[^\\s<>\"'\x60\\p{Cc}\\p{Cf}]";
/** What has a meaning in a line: an escaped mark, code, a link with a text, an address, or marks around a text. */
const tokens = new RegExp([
  "\\\\(?<escaped>[\\\\*~`\\[\\]>#-])", "(?<ticks>`+)", "(?<marks>\\*+|_+|~~)",
  `\\[(?<label>(?:[^\\[\\]\\n\\p{Cc}\\p{Cf}]|[\\u200C\\u200D]){1,300})\\]\\((?<target>https?:\\/\\/(?!\\))${rest.replace("[^", "[^()")}{1,2000})\\)`,
  `(?<![\\p{L}\\p{N}_])(?<address>https?:\\/\\/${rest}+)`,
  `(?<![\\p{L}\\p{N}_@./:-])(?<bare>(?:www\\.[a-z0-9-]{1,63}(?:\\.[a-z0-9-]{1,63}){1,5}|(?:[a-z0-9-]{1,63}\\.){1,5}(?:${domains}))(?![\\p{L}\\p{N}_@-])(?:[/?#:]${rest}*)?)`,
].join("|"), "giu");

const elements = { "*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del" };

function inline(text, mentioned, hasLinks = true) {
  // Marks that are open, each with what follows it.
  const open = [{ mark: "", nodes: [] }];
  const add = (...nodes) => open.at(-1).nodes.push(...nodes);
  const words = (part) => add(...withMentions(part, mentioned));
  /** Makes the marks that are open above `depth` text again. */
  const abandon = (depth) => {
    while (open.length > depth) {
      const { mark, nodes } = open.pop();
      add(mark, ...nodes);
    }
  };
  const missing = new Set();
  let end = 0;
  tokens.lastIndex = 0;
  // The expression is shared with the texts inside links.
  let next = 0;
  for (;;) {
    tokens.lastIndex = next;
    const match = tokens.exec(text);
    if (!match) break;
    const { escaped, ticks, marks, label, target, address, bare } = match.groups;
    next = match.index + match[0].length;
    const take = (...nodes) => {
      words(text.slice(end, match.index));
      add(...nodes);
      end = next;
    };
    if (escaped) {
      take(escaped);
    } else if (ticks) {
      const close = missing.has(ticks) ? -1 : endOfCode(text, next, ticks);
      if (close < 0) {
        missing.add(ticks);
        continue;
      }
      const code = text.slice(next, close);
      next = close + ticks.length;
      take(h("code", { dir: "ltr" }, code.startsWith(" ") && code.endsWith(" ") && code.trim() ? code.slice(1, -1) : code));
    } else if (marks) {
      const before = text[match.index - 1] ?? " ";
      const after = text[next] ?? " ";
      const parts = marks.length === 3 ? [marks.slice(0, 2), marks[0]] : [marks];
      if (marks.length > 3) continue;
      const mayBeInside = marks.length === 2 && marks !== "__";
      const canClose = !/\s/.test(before) && (mayBeInside || !isLetter(after));
      const canOpen = !/\s/.test(after) && (mayBeInside || !/[\p{L}\p{N}\\]/u.test(before));
      const isOpen = (part) => open.findLastIndex(({ mark }) => mark === part);
      if (canClose && parts.every((part) => isOpen(part) > 0)) {
        take();
        for (const part of parts.toSorted((a, b) => isOpen(b) - isOpen(a))) {
          abandon(isOpen(part) + 1);
          const { nodes } = open.pop();
          add(h(elements[part], {}, nodes));
        }
      } else if (canOpen && parts.every((part) => isOpen(part) < 0)) {
        take();
        for (const mark of parts) open.push({ mark, nodes: [] });
      }
    } else if (label && hasLinks) {
      const url = webAddress(target);
      if (!url) continue;
      take(linkTo(url, label, inline(label, [], false)));
    } else if (hasLinks && (address || bare)) {
      const shown = withoutEnd(address ?? bare);
      const url = webAddress(address ? shown : `https://${shown}`);
      next = match.index + shown.length;
      if (url) take(linkTo(url, shown, [shown]));
    }
  }
  words(text.slice(end));
  abandon(1);
  return open[0].nodes.filter((node) => node !== "");
}

/** The index of the ticks that end a code; -1 if there are none. */
function endOfCode(text, start, ticks) {
  for (let index = text.indexOf(ticks, start); index >= 0;) {
    let after = index + ticks.length;
    while (text[after] === "\x60") after += 1;
    if (after === index + ticks.length) return index > start ? index : -1;
    index = text.indexOf(ticks, after);
  }
  return -1;
}

/** Returns a link, and after it the host to which it leads, if its text is not an address with this host. Their writing
 * direction ends with them. */
function linkTo(url, text, content) {
  const host = /^(?:https?:\/\/)?([^\s/?#\\]+)/iu.exec(text.trim())?.[1].toLowerCase();
  const isSaid = host === url.host && !/\s/.test(text.trim());
  const link = h("a", { href: url.href, rel: "noopener noreferrer nofollow ugc", target: "_blank" }, content);
  return h("bdi", {}, link, isSaid ? null : h("span", { class: "host", dir: "ltr" }, ` (${url.host})`));
}

/** The address of a page; null if it is none, or names a user. */
function webAddress(text) {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null;
}

const openings = { ")": "(", "]": "[", "}": "{" };

/** Returns an address without the marks and closing brackets at its end that belong to the sentence around it. */
function withoutEnd(address) {
  const numbers = {};
  for (const letter of address) numbers[letter] = (numbers[letter] ?? 0) + 1;
  let { length } = address;
  for (; length > 0; length -= 1) {
    const last = address[length - 1];
    const isUnopened = openings[last] && numbers[last] > (numbers[openings[last]] ?? 0);
    if (!/[.,;:!?*_~]/.test(last) && !isUnopened) break;
    numbers[last] -= 1;
  }
  return address.slice(0, length);
}

const isLetter = (character = "") => /[\p{L}\p{N}]/u.test(character);

/** A letter of a script whose words have no spaces, or take endings without one: a name may touch it. */
const unspaced = /(?!\p{N})[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}ー\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]\p{M}*$/u;

/** Returns a text with the names that follow an @ as elements. */
function withMentions(text, mentioned) {
  if (!mentioned.length || !text.includes("@")) return [text];
  const nodes = [];
  let end = 0;
  // The longest name first, of two that begin alike.
  const names = mentioned.toSorted((a, b) => b.name.length - a.name.length);
  const stands = ({ name }, start) => {
    const after = text.slice(start + name.length, start + name.length + 2);
    return text.slice(start, start + name.length).toLowerCase() === name.toLowerCase()
      && (!/^[\p{L}\p{N}\p{M}_]/u.test(after) || unspaced.test(name) && !/^\p{M}/u.test(after));
  };
  for (let index = text.indexOf("@"); index >= 0; index = text.indexOf("@", index + 1)) {
    const before = text.slice(Math.max(0, index - 8), index);
    if (index < end || /[\p{L}\p{N}_]\p{M}*$/u.test(before) && !unspaced.test(before)) continue;
    const found = names.find((person) => stands(person, index + 1));
    if (!found) continue;
    const start = index + 1;
    nodes.push(text.slice(end, index), h("span", { class: found.isMe ? "mention me" : "mention", "data-user": found.id }, text.slice(index, start + found.name.length)));
    end = start + found.name.length;
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}
