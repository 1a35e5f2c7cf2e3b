import { describe, expect, it } from "vitest";
import { readAgentFile } from "../../../src/parse/agent/agent-file.ts";

const read = (text: string) => readAgentFile(".claude/agents/critic.md", text);

describe("readAgentFile", () => {
  // S0.14
  it("reads a role as people write it", () => {
    const { agent, problems } = read(
      "---\nname: code-critic\ndescription: Reads diffs. Use after every change.\nmodel: opus\ntools: Read, Grep, Bash(git log:*, git diff:*)\ncolor: red\nmemory: user\n---\n\nYou are a critic.\n",
    );
    expect(problems).toEqual([]);
    expect(agent).toEqual({
      role: "code-critic",
      description: "Reads diffs. Use after every change.",
      model: "opus",
      tools: ["Read", "Grep", "Bash(git log:*, git diff:*)"],
      prompt: "You are a critic.",
      path: ".claude/agents/critic.md",
    });
  });

  it("uses the file's name without another, and all tools if none are named", () => {
    expect(read("Be strict.").agent).toEqual({
      role: "critic",
      description: "",
      prompt: "Be strict.",
      path: ".claude/agents/critic.md",
    });
    expect(read("---\nmodel: inherit\ntools: [Read, Edit]\n---\nx").agent).toMatchObject({ tools: ["Read", "Edit"] });
    expect(read("---\nmodel: inherit\n---\nx").agent).not.toHaveProperty("model");
    expect(read("---\ntools: Bash(x, y\n---\nx").agent).toMatchObject({ tools: ["Bash(x, y"] });
  });

  it("points to the problem", () => {
    expect(read("---\nname: a b\n---\nx")).toMatchObject({
      agent: null,
      problems: [{ line: 2, column: 7, severity: "error" }],
    });
    expect(read("---\nname: [\n---\nx")).toMatchObject({
      agent: null,
      problems: [{ severity: "error" }, ...read("---\nname: [\n---\nx").problems.slice(1)],
    });
    expect(read("---\ntols: Read\n---\nx").problems).toMatchObject([
      { severity: "error", hint: 'did you mean "tools"?' },
    ]);
    expect(read("---\nname: quiet\n---\n").problems).toMatchObject([
      { severity: "warning", message: 'the role "quiet" has no prompt' },
    ]);
    expect(read("---\ntools: {a: 1}\n---\nx").problems).toMatchObject([{ line: 2, severity: "error" }]);
  });
});
