import { gunzipSync } from "node:zlib";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createEvidenceStore } from "../../../src/adapters/evidence/evidence-store.ts";
import { markHidden } from "../../../src/core/gates/check-output.ts";
import { learnVariables } from "../../../src/adapters/process/own-secrets.ts";

test("the process's own secrets are redacted in evidence, even at a cut", async () => {
  learnVariables({ ACME_API_TOKEN: "hunter2-of-acme-9000" });
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = createEvidenceStore(folder, { maxBytes: 2000 });
  const id = await store.keep("it is hunter2-of-acme-9000, ".repeat(500));
  const kept = gunzipSync(readFileSync(store.placeOf(id))).toString();
  expect(kept).toContain("[redacted:listed]");
  expect(kept).not.toContain("hunter2");
});

test("a text is copied to a plain file for agents, unless it is output of hidden checks", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = createEvidenceStore(join(folder, "evidence"), { shownIn: join(folder, "logs") });
  const path = await store.show!(await store.keep("1 failing\n"));
  expect(path).toMatch(/logs\/[0-9a-f]{12}\.log$/);
  expect(readFileSync(path!, "utf8")).toBe("1 failing\n");
  expect(await store.show!(await store.keep(markHidden("1 failing\n")))).toBeNull();
  expect(createEvidenceStore(folder).show).toBeUndefined();
});
