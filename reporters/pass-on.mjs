/** Ends this process like the child: with the same exit code, or by the same signal. */
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
  // An error in the report must not change how the command ends.
  child.on(
    "close",
    (code, signal) =>
      void before().then(
        () => end(code, signal),
        () => end(code, signal),
      ),
  );
}
