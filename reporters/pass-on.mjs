/** Ends this process as the child ended: with the same exit code, or by the same signal. */
export function passOnEnd(child, before = () => Promise.resolve()) {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 127;
  });
  const end = (code, signal) => {
    for (const each of signals) process.off(each, forward);
    if (signal !== null) process.kill(process.pid, signal);
    else process.exitCode = code;
  };
  // What fails before the end is a fault of the report, and changes nothing of how the command ended.
  child.on(
    "close",
    (code, signal) =>
      void before().then(
        () => end(code, signal),
        () => end(code, signal),
      ),
  );
}
