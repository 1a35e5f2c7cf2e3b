import { render } from "preact";
import { startKeys } from "./keys.ts";
import { startRouter } from "./router.tsx";
import { startNotifications } from "./notify.ts";
import { Shell } from "./shell.tsx";
import { follow } from "./stream.ts";
import { startTheme } from "./theme.tsx";
import { takeToken, watchToken } from "./token.ts";

takeToken();
watchToken();
startKeys();
startTheme();
startRouter();
void follow();
startNotifications();
render(<Shell />, document.getElementById("app")!);
