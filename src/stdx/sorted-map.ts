/**
 * An immutable ordered map. `insert` and `remove` share all but O(log n) nodes with the original map, so a fold can
 * keep every earlier state, and costs only what changed.
 *
 * It is an AVL tree: the heights of each node's two sides differ by at most one.
 */
export type SortedMap<K, V> = Node<K, V> | null;

interface Node<K, V> {
  readonly key: K;
  readonly value: V;
  readonly left: SortedMap<K, V>;
  readonly right: SortedMap<K, V>;
  readonly height: number;
  readonly size: number;
}

export type Order<K> = (a: K, b: K) => number;

export const byText: Order<string> = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

export function size(map: SortedMap<unknown, unknown>): number {
  return map === null ? 0 : map.size;
}

export function lookup<K, V>(map: SortedMap<K, V>, key: K, order: Order<K>): V | undefined {
  return nodeOf(map, key, order)?.value;
}

export function insert<K, V>(map: SortedMap<K, V>, key: K, value: V, order: Order<K>): SortedMap<K, V> {
  if (map === null) return branch(key, value, null, null);
  const side = order(key, map.key);
  if (side === 0) return branch(key, value, map.left, map.right);
  return side < 0
    ? balance(map.key, map.value, insert(map.left, key, value, order), map.right)
    : balance(map.key, map.value, map.left, insert(map.right, key, value, order));
}

export function remove<K, V>(map: SortedMap<K, V>, key: K, order: Order<K>): SortedMap<K, V> {
  if (map === null) return null;
  const side = order(key, map.key);
  if (side < 0) {
    const left = remove(map.left, key, order);
    return left === map.left ? map : balance(map.key, map.value, left, map.right);
  }
  if (side > 0) {
    const right = remove(map.right, key, order);
    return right === map.right ? map : balance(map.key, map.value, map.left, right);
  }
  if (map.left === null) return map.right;
  if (map.right === null) return map.left;
  let next = map.right;
  while (next.left !== null) next = next.left;
  return balance(next.key, next.value, map.left, remove(map.right, next.key, order));
}

/** Yields entries in order. Lazy: taking the first few costs only those few. */
export function entries<K, V>(map: SortedMap<K, V>): Iterable<readonly [K, V]> {
  return map === null ? NONE : walk(map);
}

const NONE: readonly never[] = [];

function* walk<K, V>(map: Node<K, V>): Generator<readonly [K, V], void, undefined> {
  const path: Node<K, V>[] = [];
  let node: SortedMap<K, V> = map;
  while (node !== null || path.length > 0) {
    while (node !== null) {
      path.push(node);
      node = node.left;
    }
    const top = path.pop()!;
    yield [top.key, top.value];
    node = top.right;
  }
}

/** Builds a map from sorted entries, with much less work than inserting them one by one. */
export function fromSorted<K, V>(sorted: readonly (readonly [K, V])[]): SortedMap<K, V> {
  const between = (from: number, to: number): SortedMap<K, V> => {
    if (from >= to) return null;
    const middle = (from + to) >> 1;
    const [key, value] = sorted[middle]!;
    return branch(key, value, between(from, middle), between(middle + 1, to));
  };
  return between(0, sorted.length);
}

/**
 * Yields the entries that are new or have another value than in an earlier map. If one map was made from the other, it
 * costs only what changed: shared parts are skipped.
 */
export function* changes<K, V>(
  before: SortedMap<K, V>,
  after: SortedMap<K, V>,
  order: Order<K>,
): Generator<readonly [K, V], void, undefined> {
  if (after === null) return;
  const known = nodeOf(before, after.key, order);
  if (known === after) return;
  yield* changes(before, after.left, order);
  if (known === null || known.value !== after.value) yield [after.key, after.value];
  yield* changes(before, after.right, order);
}

function nodeOf<K, V>(map: SortedMap<K, V>, key: K, order: Order<K>): SortedMap<K, V> {
  let node = map;
  while (node !== null) {
    const side = order(key, node.key);
    if (side === 0) return node;
    node = side < 0 ? node.left : node.right;
  }
  return null;
}

function branch<K, V>(key: K, value: V, left: SortedMap<K, V>, right: SortedMap<K, V>): Node<K, V> {
  const height = 1 + Math.max(left === null ? 0 : left.height, right === null ? 0 : right.height);
  return { key, value, left, right, height, size: 1 + size(left) + size(right) };
}

function balance<K, V>(key: K, value: V, left: SortedMap<K, V>, right: SortedMap<K, V>): Node<K, V> {
  const lean = tall(left) - tall(right);
  if (lean > 1) {
    const l = left!;
    if (tall(l.left) >= tall(l.right)) return branch(l.key, l.value, l.left, branch(key, value, l.right, right));
    const m = l.right!;
    return branch(m.key, m.value, branch(l.key, l.value, l.left, m.left), branch(key, value, m.right, right));
  }
  if (lean < -1) {
    const r = right!;
    if (tall(r.right) >= tall(r.left)) return branch(r.key, r.value, branch(key, value, left, r.left), r.right);
    const m = r.left!;
    return branch(m.key, m.value, branch(key, value, left, m.left), branch(r.key, r.value, m.right, r.right));
  }
  return branch(key, value, left, right);
}

function tall(map: SortedMap<unknown, unknown>): number {
  return map === null ? 0 : map.height;
}
