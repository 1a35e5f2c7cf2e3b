/* oxlint-disable max-lines -- the texts of a project, whole */
import type { Project } from "../projects.ts";

export const shop: Project = {
  name: "shop",
  files: {
    "package.json": `{\n  "name": "shop",\n  "version": "1.4.0",\n  "type": "module"\n}\n`,
    "README.md": `# Shop\n\nPrices, carts and orders.\n`,
    "data/rates.json": `{\n  "standard": 19,\n  "reduced": 7,\n  "books": 7,\n  "none": 0\n}\n`,
    "data/zones.json": `{\n  "home": { "base": 490, "perKilo": 100 },\n  "near": { "base": 990, "perKilo": 250 },\n  "far": { "base": 2490, "perKilo": 700 }\n}\n`,
    "src/money.js": `/** Amounts are whole cents. */
export function cents(amount) {
  if (!Number.isFinite(amount)) throw new RangeError("amount is not a number");
  return Math.round(amount * 100);
}

export function format(value, currency = "EUR") {
  const sign = value < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(value) / 100);
  const rest = String(Math.abs(value) % 100).padStart(2, "0");
  return \`\${sign}\${whole}.\${rest} \${currency}\`;
}

export function share(total, parts) {
  if (parts < 1) throw new RangeError("no parts");
  const each = Math.floor(total / parts);
  const left = total - each * parts;
  return Array.from({ length: parts }, (_, index) => (index < left ? each + 1 : each));
}
`,
    "src/tax.js": `import { readFileSync } from "node:fs";

const RATES = JSON.parse(readFileSync(new URL("../data/rates.json", import.meta.url), "utf8"));

export function rateOf(kind) {
  if (!Object.hasOwn(RATES, kind)) throw new Error("unknown kind of goods: " + kind);
  return RATES[kind];
}

export function withTax(net, kind = "standard") {
  const rate = rateOf(kind);
  return net + Math.round((net * rate) / 100);
}

export function taxIn(gross, kind = "standard") {
  const rate = rateOf(kind);
  return gross - Math.round((gross * 100) / (100 + rate));
}
`,
    "src/discounts.js": `const MOST_PERCENT = 50;
const BULK_FROM = 10;
const BULK_PERCENT = 5;

export function percentOff(total, percent) {
  const capped = Math.min(percent, MOST_PERCENT);
  if (capped <= 0) return total;
  return total - Math.round((total * capped) / 100);
}

export function bulkPercent(count) {
  return count >= BULK_FROM ? BULK_PERCENT : 0;
}

export function bestOf(total, coupons) {
  let best = total;
  for (const coupon of coupons) {
    if (coupon.expired) continue;
    const price = coupon.kind === "percent" ? percentOff(total, coupon.value) : total - coupon.value;
    if (price < best) best = Math.max(0, price);
  }
  return best;
}
`,
    "src/cart.js": `import { bestOf, bulkPercent, percentOff } from "./discounts.js";
import { withTax } from "./tax.js";

export function emptyCart() {
  return { lines: [], coupons: [] };
}

export function addLine(cart, line) {
  if (line.count <= 0) return cart;
  const same = cart.lines.find((each) => each.sku === line.sku);
  if (same === undefined) return { ...cart, lines: [...cart.lines, line] };
  const lines = cart.lines.map((each) => (each === same ? { ...each, count: each.count + line.count } : each));
  return { ...cart, lines };
}

export function removeLine(cart, sku) {
  return { ...cart, lines: cart.lines.filter((line) => line.sku !== sku) };
}

export function lineTotal(line) {
  const plain = line.price * line.count;
  return withTax(percentOff(plain, bulkPercent(line.count)), line.kind);
}

export function cartTotal(cart) {
  const total = cart.lines.reduce((sum, line) => sum + lineTotal(line), 0);
  return bestOf(total, cart.coupons);
}
`,
    "src/stock.js": `export class Stock {
  #counts = new Map();

  receive(sku, count) {
    this.#counts.set(sku, this.available(sku) + count);
  }

  available(sku) {
    return this.#counts.get(sku) ?? 0;
  }

  async reserve(sku, count) {
    if (count > this.available(sku)) return false;
    this.#counts.set(sku, this.available(sku) - count);
    return true;
  }

  async release(sku, count) {
    this.receive(sku, count);
  }
}
`,
    "src/shipping.js": `import { readFileSync } from "node:fs";

const ZONES = JSON.parse(readFileSync(new URL("../data/zones.json", import.meta.url), "utf8"));
const FREE_FROM = 5000;

export function zoneOf(country, home = "DE") {
  if (country === home) return "home";
  return ["AT", "NL", "BE", "FR", "PL"].includes(country) ? "near" : "far";
}

export function shippingCost(country, grams, total) {
  const zone = zoneOf(country);
  if (zone === "home" && total >= FREE_FROM) return 0;
  const { base, perKilo } = ZONES[zone];
  const kilos = Math.ceil(grams / 1000);
  return base + perKilo * Math.max(0, kilos - 1);
}
`,
    "src/orders.js": `import { cartTotal } from "./cart.js";
import { shippingCost } from "./shipping.js";

export async function placeOrder(cart, stock, address) {
  if (cart.lines.length === 0) return { status: "refused", reason: "empty" };
  if (cart.lines.some((line) => line.count > 99)) return { status: "refused", reason: "too many" };
  const held = [];
  for (const line of cart.lines) {
    const ok = await stock.reserve(line.sku, line.count);
    if (!ok) {
      for (const other of held) await stock.release(other.sku, other.count);
      return { status: "refused", reason: "stock", sku: line.sku };
    }
    held.push(line);
  }
  const goods = cartTotal(cart);
  const grams = cart.lines.reduce((sum, line) => sum + (line.grams ?? 0) * line.count, 0);
  const shipping = shippingCost(address.country, grams, goods);
  return { status: "placed", goods, shipping, total: goods + shipping };
}
`,
    "src/receipt.js": `import { lineTotal } from "./cart.js";
import { format } from "./money.js";

const WIDTH = 32;

export function receiptLine(line) {
  const price = format(lineTotal(line));
  const title = \`\${line.count} x \${line.sku}\`;
  return title.padEnd(WIDTH - price.length, ".") + price;
}

export function receipt(order, cart) {
  const lines = cart.lines.map(receiptLine);
  lines.push("-".repeat(WIDTH));
  lines.push("Total " + format(order.total));
  return lines.join("\\n");
}
`,
    "test/money.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { cents, format, share } from "../src/money.js";

test("amounts become cents", () => {
  assert.equal(cents(12.34), 1234);
  assert.throws(() => cents(Number.NaN), /not a number/);
});

test("amounts are written with two places", () => {
  assert.equal(format(1205), "12.05 EUR");
  assert.equal(format(-50, "USD"), "-0.50 USD");
});

test("shares add up to the whole", () => {
  assert.deepEqual(share(100, 3), [34, 33, 33]);
  assert.throws(() => share(1, 0), RangeError);
});
`,
    "test/prices.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { bestOf, bulkPercent, percentOff } from "../src/discounts.js";
import { rateOf, taxIn, withTax } from "../src/tax.js";

test("tax is added by kind", () => {
  assert.equal(withTax(1000), 1190);
  assert.equal(withTax(1000, "books"), 1070);
  assert.throws(() => rateOf("toys"), /unknown kind/);
});

test("tax is found in a gross price", () => {
  assert.equal(taxIn(1190), 190);
  assert.equal(taxIn(1000, "none"), 0);
});

test("a discount has an upper limit", () => {
  assert.equal(percentOff(1000, 10), 900);
  assert.equal(percentOff(1000, 80), 500);
  assert.equal(percentOff(1000, 0), 1000);
});

test("bulk begins at ten", () => {
  assert.equal(bulkPercent(9), 0);
  assert.equal(bulkPercent(10), 5);
});

test("the best coupon wins", () => {
  const coupons = [{ kind: "percent", value: 10 }, { kind: "fixed", value: 250 }, { kind: "fixed", value: 900, expired: true }];
  assert.equal(bestOf(1000, coupons), 750);
  assert.equal(bestOf(100, coupons), 0);
});
`,
    "test/cart.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { addLine, cartTotal, emptyCart, lineTotal, removeLine } from "../src/cart.js";

const pen = { sku: "pen", price: 100, count: 2, kind: "standard" };

test("the same goods share a line", () => {
  const cart = addLine(addLine(emptyCart(), pen), pen);
  assert.equal(cart.lines.length, 1);
  assert.equal(cart.lines[0].count, 4);
});

test("nothing is added for a count of zero", () => {
  assert.deepEqual(addLine(emptyCart(), { ...pen, count: 0 }).lines, []);
});

test("a line can be removed", () => {
  assert.deepEqual(removeLine(addLine(emptyCart(), pen), "pen").lines, []);
});

test("a line has tax and bulk discount", () => {
  assert.equal(lineTotal(pen), 238);
  assert.equal(lineTotal({ ...pen, count: 10 }), 1131);
});

test("coupons lower the total", () => {
  const cart = { ...addLine(emptyCart(), pen), coupons: [{ kind: "percent", value: 50 }] };
  assert.equal(cartTotal(cart), 119);
});
`,
    "test/orders.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { addLine, emptyCart } from "../src/cart.js";
import { placeOrder } from "../src/orders.js";
import { receipt } from "../src/receipt.js";
import { shippingCost, zoneOf } from "../src/shipping.js";
import { Stock } from "../src/stock.js";

function filled() {
  const stock = new Stock();
  stock.receive("pen", 5);
  stock.receive("book", 1);
  return stock;
}
const pen = { sku: "pen", price: 100, count: 2, kind: "standard", grams: 20 };
const book = { sku: "book", price: 2000, count: 1, kind: "books", grams: 900 };

test("an order is placed with shipping", async () => {
  const cart = addLine(addLine(emptyCart(), pen), book);
  const order = await placeOrder(cart, filled(), { country: "DE" });
  assert.deepEqual(order, { status: "placed", goods: 2378, shipping: 490, total: 2868 });
});

test("an empty cart is refused", async () => {
  assert.equal((await placeOrder(emptyCart(), filled(), { country: "DE" })).reason, "empty");
});

test("too much of one thing is refused", async () => {
  const order = await placeOrder(addLine(emptyCart(), { ...pen, count: 100 }), filled(), { country: "DE" });
  assert.equal(order.reason, "too many");
});

test("missing stock releases what was held", async () => {
  const stock = filled();
  const cart = addLine(addLine(emptyCart(), pen), { ...book, count: 2 });
  assert.equal((await placeOrder(cart, stock, { country: "AT" })).reason, "stock");
  assert.equal(stock.available("pen"), 5);
});

test("zones decide the cost", () => {
  assert.equal(zoneOf("FR"), "near");
  assert.equal(zoneOf("JP"), "far");
  assert.equal(shippingCost("DE", 2500, 1000), 690);
  assert.equal(shippingCost("JP", 1000, 9000), 2490);
  assert.equal(shippingCost("DE", 500, 5000), 0);
});

test("the receipt lines up", () => {
  const cart = addLine(emptyCart(), pen);
  assert.equal(receipt({ total: 728 }, cart), "2 x pen" + ".".repeat(17) + "2.38 EUR\\n" + "-".repeat(32) + "\\nTotal 7.28 EUR");
});
`,
  },
};
