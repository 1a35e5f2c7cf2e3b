import { spawnSync } from "node:child_process";

/** A way in which an agent starts `sh $A $O`, which answers for a person and notes what came of it in `$O`. */
export interface Disguise {
  readonly how: string;
  readonly script: string;
  /** A command that works only where the disguise can be put on. */
  readonly needs: string;
}

const CLEAN = 'env -i PATH="$PATH" HOME="$HOME" TERM=dumb';
/** Runs it in a session of its own whose parent is gone. */
const orphaned = (command: string): string =>
  `setsid ${CLEAN} A="$A" O="$O" sh -c '(sleep 0.2; ${command}) >/dev/null 2>&1 </dev/null &'`;
const SCRIPT = 'script -qec "sh $A $O" /dev/null';
const PTY = `python3 -c 'import pty; pty.spawn(["sh", "'"$A"'", "'"$O"'"])'`;
/** The process that speaks made its terminal itself. */
const OWN_TERMINAL = `python3 -c '
import os, pty
master, slave = pty.openpty()
name = os.ttyname(slave)
os.close(slave)
os.set_inheritable(master, True)
os.open(name, os.O_RDWR)
os.execvp("sh", ["sh", os.environ["A"], os.environ["O"]])'`;

export const DISGUISES: readonly Disguise[] = [
  { how: "with an empty environment", script: `${CLEAN} sh $A $O`, needs: "true" },
  { how: "in a session of its own", script: `setsid ${CLEAN} sh $A $O`, needs: "command -v setsid" },
  { how: "by a grandchild that lost its parent", script: orphaned("sh $A $O"), needs: "true" },
  { how: "in a terminal of script", script: `${CLEAN} ${SCRIPT}`, needs: "command -v script" },
  { how: "by an orphan in a terminal of script", script: orphaned(SCRIPT), needs: "command -v script" },
  { how: "in a terminal of python's pty", script: PTY, needs: "command -v python3" },
  {
    how: "by an orphan in a terminal of python's pty",
    script: orphaned(`python3 -c "import pty; pty.spawn([\\"sh\\", \\"$A\\", \\"$O\\"])"`),
    needs: "command -v python3",
  },
  {
    how: "by an orphan that made its terminal itself",
    script: `export A O; setsid -f ${CLEAN} A="$A" O="$O" ${OWN_TERMINAL} >/dev/null 2>&1 </dev/null`,
    needs: "command -v python3",
  },
  {
    how: "in a window of a tmux of its own",
    script: `${CLEAN} tmux -S "$O.socket" new-session -d "sh $A $O"`,
    needs: "command -v tmux",
  },
  {
    how: "by keys sent to a tmux of its own",
    script: `for words in "new-session -d sh" "send-keys 'sh $A $O; exit' Enter"; do eval "${CLEAN.replaceAll('"', '\\"')} tmux -S $O.socket $words"; done`,
    needs: "command -v tmux",
  },
  {
    how: "in a process namespace of its own",
    script: orphaned(`unshare -Urpf --mount-proc ${SCRIPT}`),
    needs: "unshare -Urpf --mount-proc script -qec true /dev/null",
  },
  {
    how: "with /proc hidden",
    script: orphaned(`unshare -Urm sh -c "mount -t tmpfs none /proc && exec script -qec \\"sh $A $O\\" /dev/null"`),
    needs: "unshare -Urm sh -c 'mount -t tmpfs none /proc && script -qec true /dev/null'",
  },
  {
    how: "by nsenter",
    script: orphaned(`nsenter -t 1 -m -p ${SCRIPT}`),
    needs: "nsenter -t 1 -m -p true",
  },
  {
    how: "by systemd-run, in a terminal",
    script: `systemd-run --user --quiet --collect --setenv=PATH="$PATH" ${SCRIPT}`,
    needs: "systemd-run --user --quiet --collect --wait true",
  },
  { how: "by at", script: `printf '%s\\n' '${SCRIPT}' | A=$A O=$O at now`, needs: "pgrep -x atd && command -v at" },
  {
    how: "by cron",
    script: `printf '* * * * * A=%s O=%s %s\\n' "$A" "$O" '${SCRIPT}' | crontab -; sleep 61; crontab -r`,
    // It would replace the table of the user who runs the tests, so it is tried only where there is none.
    needs: "pgrep -x cron && command -v crontab && ! crontab -l",
  },
  {
    how: "by a token of its own, in a state folder of its own",
    script: `mkdir -p "$O.state/remand"; umask 077
printf '{"sha256":"%s","madeAt":0}' "$(printf rmd_mine | sha256sum | cut -c1-64)" > "$O.state/remand/token.json"
${orphaned("XDG_STATE_HOME=$O.state REMAND_TOKEN=rmd_mine sh $A $O")}`,
    needs: "command -v sha256sum",
  },
];

/** Can the disguise be put on here? */
export const isPossible = ({ needs }: Disguise): boolean =>
  spawnSync("sh", ["-c", needs], { stdio: "ignore", timeout: 10_000 }).status === 0;
