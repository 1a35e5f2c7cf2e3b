import { whereInstalled } from "../where-installed.ts";

await whereInstalled(["acp", "claude"], () => import("../acp.agents.ts"));
