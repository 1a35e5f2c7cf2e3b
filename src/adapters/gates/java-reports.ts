import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJunit } from "../../readers/junit.ts";
import type { NameReport, ReportedTest } from "../../readers/test-names.ts";
import { filesIn, isWrittenSince, momentOf, textOf } from "./read-reports.ts";

/** What Maven and Gradle leave on the disk of a project by themselves. */
export interface JavaReports {
  /** The reports that were written since this was opened. */
  read(): Promise<readonly NameReport[]>;
}

const MAVEN = ["**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"];
const GRADLE = ["**/build/test-results/**/TEST-*.xml"];

export async function javaReports(root: string): Promise<JavaReports> {
  const has = (...names: readonly string[]): boolean => names.some((name) => existsSync(join(root, name)));
  const kinds = [
    { runner: "maven", patterns: has("pom.xml") ? MAVEN : [] },
    { runner: "gradle", patterns: has(...GRADLE_FILES) ? GRADLE : [] },
  ].filter(({ patterns }) => patterns.length > 0);
  if (kinds.length === 0) return { read: () => Promise.resolve([]) };
  const began = momentOf(
    await filesIn(
      root,
      kinds.flatMap(({ patterns }) => patterns),
    ),
  );
  return {
    async read() {
      const reports: NameReport[] = [];
      for (const { runner, patterns } of kinds)
        for (const file of await filesIn(root, patterns)) {
          if (!isWrittenSince(file, began)) continue;
          const text = await textOf(root, file);
          reports.push(typeof text === "string" ? reportOf(text, runner, root, file.path) : broken(runner));
        }
      return reports;
    },
  };
}

const GRADLE_FILES = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];

const broken = (runner: string): NameReport => ({ runner, tests: [], isComplete: false });

/** One class's file. It is written when its tests are over, so a file that can be read is complete. */
function reportOf(text: string, runner: string, root: string, path: string): NameReport {
  const { report } = readJunit(text);
  if (report === null) return broken(runner);
  const folder = join(root, dirname(path).replace(/(?:^|\/)(?:target\/\w+-reports|build\/test-results(?:\/.*)?)$/, ""));
  const named = (outcome: ReportedTest["outcome"], test: string): ReportedTest => {
    const [type = "", ...rest] = test.split(" > ");
    const method = rest.join(" > ").replace(/\(\)$/, "");
    const simple = type.slice(type.lastIndexOf(".") + 1);
    return {
      outcome,
      name: method === "" ? simple : `${simple} > ${method}`,
      file: sourceOf(folder, type),
      package: type,
    };
  };
  return {
    runner,
    isComplete: true,
    tests: [
      ...(report.passed ?? []).map(({ test }) => named("passed", test)),
      ...(report.skipped ?? []).map(({ test }) => named("skipped", test)),
      ...report.failures.map(({ test }) => named("failed", test ?? "")),
    ],
  };
}

/** A class inside of another one is in the file of the outer. */
function sourceOf(folder: string, type: string): string | null {
  const path = type.replace(/\$.*/, "").replaceAll(".", "/");
  for (const language of ["java", "kotlin", "groovy", "scala"])
    for (const set of ["test", "integrationTest", "it"]) {
      const file = join(folder, "src", set, language, `${path}.${ENDINGS[language]}`);
      if (existsSync(file)) return file;
    }
  return null;
}

const ENDINGS: Readonly<Record<string, string>> = { java: "java", kotlin: "kt", groovy: "groovy", scala: "scala" };
