import { configFileSchema } from "./config.ts";

/** The keys that a map at this path of a config may have; `null` where any name goes, or where there is no map. */
export function knownConfigKeys(path: readonly PropertyKey[]): readonly string[] | null {
  let at: Shape | undefined = bare(configFileSchema as unknown as Shape);
  for (const key of path) {
    const { def }: Shape = at;
    at = bare(def.shape?.[String(key)] ?? def.valueType ?? def.element);
    if (at === undefined) return null;
  }
  return at.def.shape === undefined ? null : Object.keys(at.def.shape);
}

/** As much as is asked here of what zod says about its schemas. */
interface Shape {
  readonly def: {
    readonly innerType?: Shape;
    readonly shape?: Readonly<Record<string, Shape>>;
    readonly valueType?: Shape;
    readonly element?: Shape;
    readonly options?: readonly Shape[];
  };
}

/** Without what makes it optional; of alternatives, the one that has keys. */
function bare(schema: Shape): Shape;
function bare(schema: Shape | undefined): Shape | undefined;
function bare(schema: Shape | undefined): Shape | undefined {
  if (schema?.def.innerType !== undefined) return bare(schema.def.innerType);
  if (schema?.def.options === undefined) return schema;
  return schema.def.options.map((option) => bare(option)).find((option) => option.def.shape !== undefined) ?? schema;
}
