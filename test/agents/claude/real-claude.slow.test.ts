import { whereInstalled } from "../where-installed.ts";

await whereInstalled(["claude"], () => import("../claude.agents.ts"));
