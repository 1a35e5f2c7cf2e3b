type Leaf = string | number | boolean | null | undefined;

/** A type with its intersections merged and everything readonly, so that only what it says is left to compare. */
export type Plain<T> = T extends Leaf ? T : { readonly [K in keyof T]: Plain<T[K]> };

/**
 * `true` for two types that say the same, field by field. Being assignable to each other is not enough: a field
 * that may be missing could then be added on one side alone.
 */
export type Same<A, B> =
  (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;

/** The argument's type is `true`, or the compiler refuses it. */
export function expectSame<_Holds extends true>(): void {}
