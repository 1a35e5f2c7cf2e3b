import { whereInstalled } from "../where-installed.ts";

await whereInstalled(["model"], () => import("../model.agents.ts"));
