import { z } from "zod";
import { briefSchema } from "../src/schemas/brief.ts";
import { configFileSchema } from "../src/schemas/config.ts";
import { reworkLogSchema } from "../src/schemas/rework-log.ts";

interface Published {
  /** The file is `schema/<name>.json`. */
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** People and other tools write an `input`, where a field with a default may be left out; an `output` has them all. */
  readonly io: "input" | "output";
}

/** The documents other tools may rely on. */
const PUBLISHED: readonly Published[] = [
  {
    name: "config",
    description: "remand.yaml: a preset, and what is changed in it.",
    schema: configFileSchema,
    io: "input",
  },
  {
    name: "brief",
    description: "What `remand brief --from` reads: why work goes back, and what to do about it.",
    schema: briefSchema,
    io: "input",
  },
  {
    name: "rework-log",
    description: "The rework log of one story in the audit trail: `slices/<id>/rework-log.json`.",
    schema: reworkLogSchema,
    io: "output",
  },
];

/** Each file of the folder `schema`, with its whole text. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map(
    PUBLISHED.map(({ name, description, schema, io }) => {
      const { $schema, ...body } = z.toJSONSchema(schema, { io, target: "draft-2020-12" });
      const document = { $schema, title: `Remand: ${name}`, description, ...body };
      return [`${name}.json`, `${JSON.stringify(document, null, 2)}\n`];
    }),
  );
}
