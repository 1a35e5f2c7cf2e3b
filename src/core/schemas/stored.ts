import type { z } from "zod";

/** The type of what a schema reads: deeply readonly, so that stored values are never changed in place. */
export type Stored<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<T> = T extends Leaf ? T : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };
type Leaf = string | number | boolean | null | undefined;
