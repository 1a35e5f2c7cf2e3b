import { expect, it } from "vitest";
import { without } from "../../../src/write/edits/added-text.ts";
import { addToToml, removeFromToml, type TomlTable } from "../../../src/write/edits/toml-edit.ts";

const TABLE: TomlTable = { name: ["mcp_servers", "remand"], lines: ['command = "sh"', 'args = ["-c"]'] };
const BLOCK = '[mcp_servers.remand]\ncommand = "sh"\nargs = ["-c"]\n';

const start = (text: string) => ({ text, added: [] });

it.each([
  ["nothing", "", BLOCK],
  ["a file", 'model = "x"\n', `model = "x"\n\n${BLOCK}`],
  ["a file without an end of its last line", "[a]\nb = 1", `[a]\nb = 1\n\n${BLOCK}`],
  ["Windows line ends", "a = 1\r\n", `a = 1\r\n\r\n${BLOCK.replaceAll("\n", "\r\n")}`],
  ["another server", '[mcp_servers.other]\ncommand = "it\'s"\n', `[mcp_servers.other]\ncommand = "it's"\n\n${BLOCK}`],
  ["strings of many lines", 'a = """\n[mcp_servers]\n"""\n', `a = """\n[mcp_servers]\n"""\n\n${BLOCK}`],
])("a table is added after %s, and removed byte for byte", (_name, text, wanted) => {
  const edit = addToToml(start(text), TABLE);
  expect(edit).toMatchObject({ ok: true, grown: { text: wanted } });
  if (!edit.ok) return;
  expect(without(edit.grown.text, edit.grown.added)).toBe(text);
  expect(addToToml(edit.grown, TABLE)).toEqual(edit);
});

it.each([
  "[mcp_servers.remand]\nurl = 1\n",
  "[\"mcp_servers\".'remand']\n",
  "mcp_servers.remand.url = 1\n",
  "[mcp_servers.remand.env]\n",
])("an existing server of that name is not changed: %j", (text) => {
  expect(addToToml(start(text), TABLE)).toEqual({ ok: true, grown: { text, added: [] } });
});

it.each([
  ["mcp_servers = { other = {} }\n", "is written as one value"],
  ["'mcp_servers' = {}\n", "is written as one value"],
  ["[[mcp_servers]]\n", "is written as one value"],
  ['a = """\nnever closed\n', "a string in it does not end"],
  ["a = 'x\n", "a string in it does not end"],
])("is refused: %j", (text, message) => {
  expect(addToToml(start(text), TABLE)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
});

it("is removed from a file that was changed since, without other changes", () => {
  expect(removeFromToml(`a = 1\n\n${BLOCK}\n[b]\nc = 2\n`, TABLE)).toBe("a = 1\n\n[b]\nc = 2\n");
  expect(removeFromToml(`a = 1\r\n\r\n${BLOCK.replaceAll("\n", "\r\n")}`, TABLE)).toBe("a = 1\r\n");
  expect(removeFromToml("[mcp_servers.remand]\nurl = 1\n", TABLE)).toBeNull();
});
