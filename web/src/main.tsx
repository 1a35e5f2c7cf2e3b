import { render } from "preact";
import { startRouter } from "./router.tsx";
import { Shell } from "./shell.tsx";
import { follow } from "./stream.ts";
import { startTheme } from "./theme.tsx";
import { takeToken } from "./token.ts";

takeToken();
startTheme();
startRouter();
void follow();
render(<Shell />, document.getElementById("app")!);
