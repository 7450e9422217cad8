// Says once that another service cannot be used, and once that it can again.
import type { Log } from '../core/log.ts';

export class OutageLog {
  readonly #log: Log;
  readonly #fields: Readonly<Record<string, string>>;
  #isOut = false;

  /** `fields` say which service it is. */
  constructor(log: Log, fields: Readonly<Record<string, string>>) {
    this.#log = log;
    this.#fields = fields;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  failed(error: string, consequence: string): void {
    if (!this.#isOut) this.#log.warn({ ...this.#fields, error }, consequence);
    this.#isOut = true;
  }

  succeeded(): void {
    if (this.#isOut) this.#log.info(this.#fields, 'the service for authentication answers again');
    this.#isOut = false;
  }
}
