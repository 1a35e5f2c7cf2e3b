import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { without } from "../../../src/write/edits/added-text.ts";
import { readJson, type JsonAddition, addToJson, isBare, removeFromJson } from "../../../src/write/edits/json-edit.ts";
import { isRecord } from "../../../src/stdx/assert.ts";

const HOOK = { type: "command", command: "remand hook stop" };
const isHook = (hook: unknown): boolean => isRecord(hook) && String(hook["command"]).includes("remand hook stop");
const STOP: JsonAddition = {
  path: ["hooks", "Stop"],
  as: "item",
  value: { hooks: [HOOK] },
  within: "hooks",
  isOurs: isHook,
};
const SERVER: JsonAddition = {
  path: ["mcpServers", "remand"],
  as: "member",
  value: { command: "remand" },
  isOurs: (found) => JSON.stringify(found) === '{"command":"remand"}',
};

function added(text: string, ...wishes: readonly JsonAddition[]): string {
  const edit = addToJson({ text, added: [] }, wishes);
  if (!edit.ok) throw new Error(edit.message);
  expect(without(edit.grown.text, edit.grown.added)).toBe(text);
  return edit.grown.text;
}

describe("an addition to JSON", () => {
  it.each([
    ["an empty object", "{}", '{\n  "mcpServers": {\n    "remand": {\n      "command": "remand"\n    }\n  }\n}'],
    ["an object on one line", '{"a": 1}', '{"a": 1, "mcpServers": { "remand": { "command": "remand" } }}'],
    [
      "a comment on one line",
      '{"a": 1 /* why */}',
      '{"a": 1, /* why */ "mcpServers": { "remand": { "command": "remand" } }}',
    ],
    ["a blank object", "{ }", '{\n  "mcpServers": {\n    "remand": {\n      "command": "remand"\n    }\n  }\n }'],
    [
      "a text that holds only a comment",
      "// why",
      '{\n  "mcpServers": {\n    "remand": {\n      "command": "remand"\n    }\n  }\n}\n// why',
    ],
    ["nothing at all", "", '{\n  "mcpServers": {\n    "remand": {\n      "command": "remand"\n    }\n  }\n}'],
    [
      "tabs and a comma at the end",
      '{\n\t"a": 1,\n}\n',
      '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"remand": {\n\t\t\t"command": "remand"\n\t\t}\n\t}\n}\n',
    ],
    [
      "a remark behind the last member",
      '{\n  "a": 1 // why\n}\n',
      '{\n  "a": 1, // why\n  "mcpServers": {\n    "remand": {\n      "command": "remand"\n    }\n  }\n}\n',
    ],
    [
      "Windows line ends",
      '{\r\n  "a": 1\r\n}\r\n',
      '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "remand": {\r\n      "command": "remand"\r\n    }\r\n  }\r\n}\r\n',
    ],
    [
      "a place inside an object that is there",
      '{\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n',
      '{\n  "mcpServers": {\n    "other": { "command": "x" },\n    "remand": {\n      "command": "remand"\n    }\n  }\n}\n',
    ],
  ])("is formatted like %s", (_name, text, wanted) => {
    expect(added(text, SERVER)).toBe(wanted);
  });

  it("follows a byte order mark, which stays", () => {
    expect(added("\uFEFF{}", SERVER).startsWith('\uFEFF{\n  "mcp')).toBe(true);
  });

  it("can be an item of a plain list", () => {
    const wish: JsonAddition = { path: ["plugins"], as: "item", value: "remand", isOurs: (item) => item === "remand" };
    expect(added('{ "plugins": ["a"] }', wish)).toBe('{ "plugins": ["a", "remand"] }');
    expect(added('{ "plugins": ["remand"] }', wish)).toBe('{ "plugins": ["remand"] }');
    expect(added('{ "plugins": ["a",] }', wish)).toBe('{ "plugins": ["a", "remand"] }');
    expect(removeFromJson('{ "plugins": ["remand", "a"] }', [wish])).toBe('{ "plugins": [ "a"] }');
  });

  it("is not added again, in whatever format it was written", () => {
    const text =
      '{ "hooks": { "Stop": [ { "matcher": "", "hooks": [ { "command": "npx remand hook stop --only checks" } ] } ] } }';
    expect(added(text, STOP)).toBe(text);
    expect(added('{ "mcpServers": { "remand": { "url": "mine" } } }', SERVER)).toContain('"url": "mine"');
  });

  it.each([
    ['{ "a": 1, }, 2', "end of file expected", 11],
    ['{ "a" 1 }', "colon expected", 6],
    ["{ a: 1 }", "invalid symbol", 2],
    ['{ "a": "x\n" }', "unexpected end of string", 7],
    ['{ "a": 01 }', "comma expected", 8],
    ['{ "a": 1 "b": 2 }', "comma expected", 9],
    ['{ "hooks": {}, "hooks": {} }', 'the key "hooks" is there twice', 15],
    ['{ "hooks": [] }', '"hooks" is not an object', 11],
    ['{ "hooks": { "Stop": {} } }', '"hooks.Stop" is not a list', 21],
    ["[]", "not an object", 0],
    ['{ "a": /* never closed }', "unexpected end of comment", 7],
    ["[".repeat(300), "nested too deeply", 200],
  ])("is refused in %j", (text, message, at) => {
    expect(addToJson({ text, added: [] }, [STOP])).toEqual({ ok: false, message, at });
  });
});

describe("a removal from JSON", () => {
  it.each([
    [
      "an item between others",
      '{"hooks":{"Stop":[1,{"hooks":[{"command":"remand hook stop"}]},2]}}',
      '{"hooks":{"Stop":[1,2]}}',
    ],
    ["the last item", '{"hooks":{"Stop":[1, {"hooks":[{"command":"remand hook stop"}]}]}}', '{"hooks":{"Stop":[1]}}'],
    [
      "the only item, and what held nothing else",
      '{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"remand hook stop"}]}]}}',
      '{"a":1}',
    ],
    [
      "an item that somebody put a matcher to",
      '{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"remand hook stop"}]}],"Other":[]}}',
      '{"hooks":{"Other":[]}}',
    ],
    [
      "a hook beside somebody else's",
      '{"hooks":{"Stop":[{"hooks":[{"command":"lint"},{"command":"remand hook stop"}]}]}}',
      '{"hooks":{"Stop":[{"hooks":[{"command":"lint"}]}]}}',
    ],
    [
      "it twice",
      '{"hooks":{"Stop":[{"hooks":[{"command":"remand hook stop"}]},{"hooks":[{"command":"remand hook stop"}]}]}}',
      "{}",
    ],
  ])("is %s", (_name, text, wanted) => {
    expect(removeFromJson(text, [STOP])).toBe(wanted);
  });

  it("never removes a comment, and leaves valid JSON", () => {
    const text =
      '{\n  "hooks": {\n    // mine\n    "Stop": [{ "hooks": [{ "command": "remand hook stop" }] }] // too\n  }\n}\n';
    const left = removeFromJson(text, [STOP])!;
    expect(left).toMatch(/\/\/ mine\n[^]*\/\/ too\n/);
    expect(readJson(left)).toMatchObject({ ok: true });
  });

  it("removes nothing if the addition is missing, or the text cannot be parsed", () => {
    for (const text of ["", "{}", '{"hooks":[]}', '{"hooks":{"Stop":{}}}', '{"hooks":{"Stop":[{"hooks":{}}]}}', "{"])
      expect(removeFromJson(text, [STOP])).toBeNull();
    expect(removeFromJson('{"mcpServers":{"remand":{"command":"mine"}}}', [SERVER])).toBeNull();
    expect(removeFromJson('{"mcpServers":{"remand":{"command":"remand"}}}', [SERVER])).toBe("{}");
    expect([isBare("{}\n"), isBare("\uFEFF{ }"), isBare('{"a":1}'), isBare("{ // x\n}")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

/** JSON as people write it: any blanks, comments, and trailing commas. */
const blanks = fc.constantFrom("", " ", "\n", "\r\n", "\n  ", "\t", " /* r */ ", " // r\n", "\n// {\n  ");
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; container: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.oneof(fc.jsonValue({ maxDepth: 0 }), fc.string()).map((value) => JSON.stringify(value) ?? "null"),
    tie("container"),
  ),
  container: fc
    .tuple(
      fc.boolean(),
      fc.uniqueArray(
        fc.tuple(fc.constantFrom("hooks", "Stop", "a", "mcpServers", "x y"), tie("value"), blanks, blanks),
        {
          maxLength: 4,
          selector: ([key]) => key,
        },
      ),
      blanks,
      fc.boolean(),
    )
    .map(([isObject, members, last, hasComma]) => {
      const inner = members.map(
        ([key, value, a, b]) => `${a}${isObject ? `${JSON.stringify(key)}:${b}` : ""}${value}${b}`,
      );
      const comma = hasComma && members.length > 0 ? "," : "";
      return isObject ? `{${inner.join(",")}${comma}${last}}` : `[${inner.join(",")}${comma}${last}]`;
    }),
})).container;

describe("any JSON file", () => {
  it("additions can be removed byte for byte, without other changes", () => {
    fc.assert(
      fc.property(jsonText, blanks, (body, around) => {
        const text = `${around}${body}${around}`;
        expect(readJson(text)).toMatchObject({ ok: true });
        const edit = addToJson({ text, added: [] }, [STOP, SERVER]);
        if (!edit.ok) return;
        expect(without(edit.grown.text, edit.grown.added)).toBe(text);
        // The second time nothing is left to add, so everything is there, and the text is still JSON.
        expect(addToJson(edit.grown, [STOP, SERVER])).toEqual(edit);
      }),
    );
  });

  it("a moved addition is found and removed, and the rest is valid JSON", () => {
    fc.assert(
      fc.property(jsonText, fc.constantFrom("  ", "\n", " // since\n"), (text, since) => {
        const edit = addToJson({ text, added: [] }, [STOP, SERVER]);
        if (!edit.ok) return;
        const left = removeFromJson(edit.grown.text.replace(",", `,${since}`), [STOP, SERVER]);
        if (left === null) return;
        expect(readJson(left)).toMatchObject({ ok: true });
        expect(left).not.toContain("remand hook stop");
      }),
    );
  });
});
