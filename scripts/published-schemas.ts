import { z } from "zod";
import { briefSchema } from "../src/core/schemas/brief.ts";
import { configFileSchema } from "../src/core/schemas/config.ts";
import { gateConfigSchema } from "../src/core/schemas/config-sections.ts";
import { escalationSchema } from "../src/core/schemas/escalation.ts";
import { findingSchema, judgementSchema, verdictSchema } from "../src/core/schemas/gate-result.ts";
import { gateRulesSchema, policySchema } from "../src/core/schemas/policy.ts";
import { readingSchema } from "../src/core/schemas/reading.ts";
import { receiptPredicateSchema } from "../src/core/schemas/receipt.ts";
import { recordedSchema } from "../src/core/schemas/event.ts";
import { reworkLogSchema } from "../src/core/schemas/report.ts";
import { storySchema } from "../src/core/schemas/story.ts";
import { addConfigDefaults } from "./config-defaults.ts";

interface Published {
  /** The file is `schema/<name>.json`. */
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** People and other tools write an `input`, where fields with defaults are optional; an `output` has all fields. */
  readonly io: "input" | "output";
}

/** The documents that other tools may rely on. */
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
    name: "reading",
    description: "What `remand parse --json` prints: what an agent's text says.",
    schema: readingSchema,
    io: "output",
  },
  {
    name: "verdict",
    description: "What a reviewer is asked for where it can answer in JSON.",
    schema: verdictSchema,
    io: "input",
  },
  {
    name: "story",
    description: "One story as `remand stories --json` lists it.",
    schema: storySchema,
    io: "output",
  },
  {
    name: "event",
    description: "One line of the journal: an event, when it happened, and whose it is.",
    schema: recordedSchema,
    io: "output",
  },
  {
    name: "rework-log",
    description: "The rework log of one story in the audit trail: `slices/<id>/rework-log.json`.",
    schema: reworkLogSchema,
    io: "output",
  },
  {
    name: "receipt",
    description:
      "The predicate of a receipt: what was accepted or waived, on which evidence, and what was let through.",
    schema: receiptPredicateSchema,
    io: "output",
  },
  {
    name: "judgement",
    description: "What one gate said about one tree: the result, the findings, and the evidence for them.",
    schema: judgementSchema,
    io: "output",
  },
  {
    name: "escalation",
    description: "A question that only a person can answer: what was tried, what may be said, what each answer does.",
    schema: escalationSchema,
    io: "output",
  },
];

/** Schemas that occur several times in a document, or are long, are defined once by name. */
const NAMED: readonly (readonly [string, z.ZodType])[] = [
  ["config-gate", gateConfigSchema],
  ["escalation", escalationSchema],
  ["finding", findingSchema],
  ["gate-rules", gateRulesSchema],
  ["judgement", judgementSchema],
  ["policy", policySchema],
  ["story", storySchema],
];

/** Each file of the folder `schema`, with its text. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map(
    PUBLISHED.map(({ name, description, schema, io }) => {
      const { $schema, ...body } = z.toJSONSchema(schema, {
        io,
        target: "draft-2020-12",
        metadata: namesWithin(schema),
        // Metadata of the schema beyond its shape, such as a rule between two fields.
        override: ({ zodSchema, jsonSchema }) => void Object.assign(jsonSchema, z.globalRegistry.get(zodSchema)),
      });
      if (schema === configFileSchema) addConfigDefaults(body);
      const document = { $schema, $id: `urn:remand:${name}:1`, title: `Remand: ${name}`, description, ...body };
      return [`${name}.json`, `${JSON.stringify(document, null, 2)}\n`];
    }),
  );
}

function namesWithin(whole: z.ZodType): z.core.$ZodRegistry<{ id: string }> {
  const names = z.registry<{ id: string }>();
  for (const [id, schema] of NAMED) if (schema !== whole) names.add(schema, { id });
  return names;
}
