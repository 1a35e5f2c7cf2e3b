// @ts-nocheck: these libraries are there only after `npm run bench` has installed them.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "better-sqlite3";

/**
 * The same workflow as a graph: implement, check, and if the check fails a brief and implement again. Agents and checks
 * take no time and return as much text as on the other side.
 *
 * `full`: every step is on the disk before the next one starts, as in Remand. `as-it-comes`: the library's own
 * settings, with which a power cut may lose the last steps.
 */
export function createWorkflow(file, durability) {
  const db = new Database(file);
  const saver = new SqliteSaver(db);
  if (durability === "full") {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
  }
  const app = graph().compile({ checkpointer: saver });
  const more = durability === "full" ? { durability: "sync" } : {};
  return {
    async accept(story) {
      const config = { configurable: { thread_id: story.id }, ...more };
      const { result } = await app.invoke({ story }, config);
      if (result !== "pass") throw new Error(`${story.id} ended as ${String(result)}`);
    },
    close: () => db.close(),
  };
}

function graph() {
  const State = Annotation.Root({
    story: Annotation(),
    attempt: Annotation(),
    tree: Annotation(),
    summary: Annotation(),
    result: Annotation(),
    findings: Annotation(),
    brief: Annotation(),
  });
  return new StateGraph(State)
    .addNode("implement", ({ story, attempt = 0 }) => ({
      attempt: attempt + 1,
      tree: `${story.id}-${attempt + 1}`.padEnd(40, "0"),
      summary: "payments are tried again, and a test shows it",
    }))
    .addNode("check", ({ attempt }) =>
      attempt === 1 ? { result: "fail", findings: [FINDING] } : { result: "pass", findings: [] },
    )
    .addNode("write-brief", ({ story, findings }) => ({ brief: briefOf(story, findings) }))
    .addEdge(START, "implement")
    .addEdge("implement", "check")
    .addConditionalEdges("check", ({ result }) => (result === "pass" ? END : "write-brief"), ["write-brief", END])
    .addEdge("write-brief", "implement");
}

const FINDING = {
  severity: "critical",
  category: "test",
  message: "payment > is tried again: expected 3 calls, saw 1",
  source: "checks",
  file: "test/payment.test.ts",
  line: 41,
};

function briefOf({ title, body }, findings) {
  const wrong = findings.map(({ file, line, message }) => `- ${file}:${line}: ${message}`).join("\n");
  return `# ${title}\n\n${body}\n\nThe checks failed:\n\n${wrong}\n\nFix what failed; existing tests stay as they are.\n`;
}
