// Waits for the signal that ends a command.

/** Resolves at the first SIGTERM or SIGINT; from then on a second one ends the process at once, with exit code 0. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0;
    const onSignal = (): void => {
      signals++;
      if (signals > 1) process.exit(0);
      resolve();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}
