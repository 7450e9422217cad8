// One run of the suite: how far it is, what is still to come, and whether it was told to stop.

/** Counts the pieces of a run, says on standard error where it is, and stops between two pieces after Ctrl-C. */
export class RunSession {
  readonly #beganMs = performance.now();
  readonly #total: number;
  #done = 0;
  #isStopped = false;
  readonly #onSignal = (): void => {
    if (this.#isStopped) process.exit(130);
    this.#isStopped = true;
    process.stderr.write('\nstopping after this measurement, what is done is kept; once more ends at once\n');
  };

  /** `total` is the number of pieces of the whole run. */
  constructor(total: number) {
    this.#total = total;
    process.on('SIGINT', this.#onSignal).on('SIGTERM', this.#onSignal);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Tells that a piece begins. */
  begin(what: string): void {
    const share = this.#done / Math.max(1, this.#total);
    const left =
      this.#done === 0 ? '' : `, about ${minutes(((performance.now() - this.#beganMs) * (1 - share)) / share)} left`;
    const line = `[${String(Math.floor(share * 100)).padStart(3)} %] ${what}${left}`;
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${line}`);
    else process.stderr.write(`${line}\n`);
  }

  /** Tells that pieces have ended, or will not be run. */
  end(pieces = 1): void {
    this.#done += pieces;
  }

  /** A line that stays. */
  say(line: string): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
    process.stdout.write(`${line}\n`);
  }

  close(): void {
    process.off('SIGINT', this.#onSignal).off('SIGTERM', this.#onSignal);
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
  }
}

function minutes(ms: number): string {
  return ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;
}
