import { whereInstalled } from "../where-installed.ts";

await whereInstalled(["codex"], () => import("../codex.agents.ts"));
