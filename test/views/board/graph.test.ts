import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { entries } from "../../../src/stdx/sorted-map.ts";
import { boardCard } from "../../../src/views/board/board.ts";
import { graphOf } from "../../../src/views/board/graph.ts";
import { begin, runScript, world } from "../../seeds/scripted-run.ts";
import { story } from "../../kit/story-world.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
const after = (...ids: string[]) => ({ dependsOn: ids.map((id) => storyId(id)) });

/** `login` asks a person; the stories that wait for it have not started; `done` is accepted. */
const { run } = runScript(
  begin(
    presetPolicy("goal"),
    story("login"),
    story("cart", after("login")),
    story("checkout", after("cart")),
    story("mail", after("login")),
    story("done"),
    story("report", after("done", "login")),
    story("single"),
  ),
  world({ gates: { checks: [SAME, SAME, SAME, SAME] }, story: "login" }),
);
const cards = [...entries(run.stories)].map(([, state]) => boardCard(run, state));

describe("the graph of stories", () => {
  const graph = graphOf(run, cards, "");
  const node = (id: string) => graph.nodes.find((each) => each.id === id);

  it("places each story to the right of all that it waits for", () => {
    expect(graph.nodes).toHaveLength(6);
    expect(graph.alone).toBe(1);
    for (const { id, level, dependsOn } of graph.nodes)
      for (const earlier of dependsOn) expect(node(earlier)!.level, id).toBeLessThan(level);
    const places = graph.nodes.map(({ level, row }) => `${level} ${row}`);
    expect(new Set(places).size).toBe(places.length);
    expect(node("login")).toMatchObject({ level: 0, group: "needs-you" });
    expect(node("report")).toMatchObject({ level: 1, dependsOn: ["done", "login"], column: "waiting", group: "idle" });
    expect(node("done")).toMatchObject({ group: "done" });
  });

  it("finds the longest chain of open stories, and its duration", () => {
    expect(graph.critical).toEqual(["login", "cart", "checkout"]);
    expect(graph.nodes.filter(({ isCritical }) => isCritical)).toHaveLength(3);
    const { usual } = run;
    const [{ totalMs, count } = { totalMs: 0, count: 0 }] = Object.values(usual);
    expect(count).toBeGreaterThan(0);
    expect(graph.criticalMs).toBeGreaterThanOrEqual(2 * (totalMs / count));
    const none = graphOf({ ...run, usual: {} }, cards, "");
    expect(none).toMatchObject({ critical: ["login", "cart", "checkout"], criticalMs: null });
  });

  it("shows matching stories with their neighbors", () => {
    const ids = graphOf(run, cards, "checkout").nodes.map(({ id }) => id);
    expect(ids.toSorted()).toEqual(["cart", "checkout"]);
  });

  it("draws a limited number, and follows a chain of any length", () => {
    const long = Array.from({ length: 5000 }, (_, at) => story(`s${at}`, at === 0 ? {} : after(`s${at - 1}`)));
    const many = begin(presetPolicy("goal"), ...long);
    const all = [...entries(many.stories)].map(([, state]) => boardCard(many, state));
    const drawn = graphOf(many, all, "");
    expect(drawn.critical).toHaveLength(5000);
    expect(drawn.nodes).toHaveLength(300);
    expect(drawn.leftOut).toBe(4700);
  });
});
