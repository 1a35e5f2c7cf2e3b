/**
 * Starts Node with the reporters of its command and Remand's own. With two or more reporters, Node requires a
 * destination for each.
 *
 * Usage: node-with-reporters.mjs <node> <arguments of node>
 */
import { spawn } from "node:child_process";
import { devNull } from "node:os";
import { passOnEnd } from "./pass-on.mjs";

const [program, ...given] = process.argv.slice(2);
/** Options of Node whose value is the next word. */
const TWO_WORDS = /^(?:-r|-C|-e|-p|--require|--import|--conditions|--loader|--experimental-loader|--eval|--env-file)$/;

const { options, rest } = beforeScript(given);
const env = { ...process.env };
const ours = /\s*--test-reporter=("(?:[^"\\]|\\.)*"|\S*node-test\.mjs)/.exec(env.NODE_OPTIONS ?? "");
if (ours !== null) env.NODE_OPTIONS = env.NODE_OPTIONS.replace(ours[0], "");
const args = ours === null ? given : [...withOurs(options, unquoted(ours[1])), ...rest];
passOnEnd(spawn(program, args, { stdio: "inherit", env }));

/** The options of Node itself, each as an entry `[option]` or `[option, value]`. */
function beforeScript(words) {
  const options = [];
  let at = 0;
  while (at < words.length && words[at].startsWith("-") && words[at] !== "--") {
    const takesNext = TWO_WORDS.test(words[at]) || /^--test-reporter(?:-destination)?$/.test(words[at]);
    options.push(words.slice(at, (at += takesNext ? 2 : 1)));
  }
  return { options, rest: words.slice(at) };
}

function withOurs(options, reporter) {
  const valueOf = ([word, value]) => value ?? word.slice(word.indexOf("=") + 1);
  const isFor = (name) => (option) => option[0] === name || option[0].startsWith(`${name}=`);
  const reporters = options.filter(isFor("--test-reporter")).map(valueOf);
  const destinations = options.filter(isFor("--test-reporter-destination")).map(valueOf);
  if (reporters.length === 1 && destinations.length === 0) destinations.push("stdout");
  // The command names no reporter, or Node will reject it anyway.
  if (reporters.length === 0 || reporters.length !== destinations.length) return options.flat();
  const others = options.filter((option) => !/^--test-reporter(?:-destination)?(?:=|$)/.test(option[0]));
  env.REMAND_TEST_NAMES_ONLY = "1";
  return [
    ...others.flat(),
    ...[...reporters, reporter].map((name) => `--test-reporter=${name}`),
    ...[...destinations, devNull].map((name) => `--test-reporter-destination=${name}`),
  ];
}

function unquoted(text) {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text;
}
