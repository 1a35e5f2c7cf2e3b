/**
 * SHA-256 of a string's UTF-8 bytes, as hex. It is written out here because fingerprints are made in rooms
 * that also run in a browser, where `node:crypto` is missing and `crypto.subtle` answers only later.
 */
export function sha256(text: string): string {
  const message = padded(new TextEncoder().encode(text));
  const state = Uint32Array.from(INITIAL);
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < message.byteLength; offset += 64) compress(state, message, offset, schedule);
  let hex = "";
  for (const word of state) hex += word.toString(16).padStart(8, "0");
  return hex;
}

function padded(bytes: Uint8Array): DataView {
  const length = ((bytes.length + 8) >> 6) * 64 + 64;
  const out = new Uint8Array(length);
  out.set(bytes);
  out[bytes.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 0x2000_0000));
  view.setUint32(length - 4, (bytes.length << 3) >>> 0);
  return view;
}

function compress(state: Uint32Array, message: DataView, offset: number, w: Uint32Array): void {
  for (let i = 0; i < 16; i++) w[i] = message.getUint32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15]!;
    const b = w[i - 2]!;
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i]! + w[i]!) >>> 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) >>> 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) >>> 0;
  }
  const mixed = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i++) state[i] = state[i]! + mixed[i]!;
}

const rotate = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

/** The first 32 bits of the fractional parts of the roots of the first primes, as the standard defines them. */
const PRIMES = firstPrimes(64);
const INITIAL = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
const ROUND = PRIMES.map((p) => fraction(Math.cbrt(p)));

function fraction(x: number): number {
  return Math.floor((x - Math.floor(x)) * 0x1_0000_0000) >>> 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  return primes;
}
