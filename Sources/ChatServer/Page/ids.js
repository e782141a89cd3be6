// Ids that the page makes: UUIDs of version 7 (RFC 9562), so that a message keeps its id however often it is sent.

let last = 0n;

/** Returns a UUIDv7 in lower case. The ids of one page ascend. */
export function newID(now = Date.now(), random = crypto.getRandomValues(new Uint8Array(10))) {
  let bits = BigInt(now) << 80n;
  for (const [index, byte] of random.entries()) bits |= BigInt(byte) << BigInt(72 - 8 * index);
  bits = (bits & ~(0xfn << 76n)) | (0x7n << 76n);
  bits = (bits & ~(0x3n << 62n)) | (0x2n << 62n);
  if (bits >> 80n === last >> 80n && bits <= last) bits = last + 1n;
  last = bits;
  const digits = bits.toString(16).padStart(32, "0");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}

/** Whether a text is a UUID. */
export function isID(text) {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
