// The thread that compares passwords with their hashes, one after the other, so that requests never wait for it.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PasswordHash } from '../access/password-hash.ts';
import { limitKeyOfIp } from '../resilience/rate-limit-key.ts';

export interface PasswordQuestion {
  readonly hash: PasswordHash;
  readonly password: string;
  /** Whose question it is: one client cannot take all places. */
  readonly client: string;
}

/** `unknown`: it could not be found out. */
export type PasswordAnswer = 'right' | 'wrong' | 'unknown';

interface Task extends PasswordQuestion {
  readonly done: (answer: PasswordAnswer) => void;
}

/** Questions that wait at a time, each for some tens to hundreds of milliseconds of the thread. */
const MOST_WAITING = 32;
const MOST_OF_CLIENT = 8;

/** After the thread has failed, it is started again after this time. */
const PAUSE_MS = 1000;

/**
 * Starts the thread with the first question. One thread, and not the pool of libuv, which resolves names and reads files
 * for the whole process; it also bounds the memory that scrypt takes.
 */
export class PasswordThread {
  readonly #waiting: Task[] = [];
  #running: Task | null = null;
  #worker: Worker | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;

  /** Questions that wait for the thread. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Asks, and calls `done` later; returns how the question is called off, or null when there is no place for it. */
  ask(question: PasswordQuestion, done: (answer: PasswordAnswer) => void): (() => void) | null {
    if (this.#waiting.length >= MOST_WAITING || this.#countOf(question.client) >= MOST_OF_CLIENT) return null;
    if (this.#worker === undefined && performance.now() - this.#failedMs < PAUSE_MS) return null;
    const task = { ...question, done };
    this.#waiting.push(task);
    this.#next();
    return () => {
      const at = this.#waiting.indexOf(task);
      if (at !== -1) this.#waiting.splice(at, 1);
    };
  }

  /** Ends the thread; what waits is answered `unknown`. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#lost();
    await worker?.terminate();
  }

  #countOf(client: string): number {
    const network = limitKeyOfIp(client);
    let count = this.#running !== null && limitKeyOfIp(this.#running.client) === network ? 1 : 0;
    for (const task of this.#waiting) if (limitKeyOfIp(task.client) === network) count++;
    return count;
  }

  #next(): void {
    if (this.#running !== null) return;
    const task = this.#waiting.shift();
    if (task === undefined) return;
    this.#running = task;
    try {
      this.#worker ??= this.#start();
    } catch {
      // The system has no room for another thread.
      this.#failedMs = performance.now();
      this.#lost();
      return;
    }
    this.#worker.postMessage({ hash: task.hash, password: task.password });
  }

  #start(): Worker {
    const script = new URL(`./password-worker${extname(import.meta.filename)}`, import.meta.url);
    const worker = new Worker(script, { name: 'weir passwords' });
    worker.unref();
    worker.on('message', (isRight: boolean) => {
      if (worker === this.#worker) this.#answered(isRight ? 'right' : 'wrong');
    });
    worker.on('error', () => this.#failed(worker));
    worker.on('exit', () => this.#failed(worker));
    return worker;
  }

  #answered(answer: PasswordAnswer): void {
    const task = this.#running;
    this.#running = null;
    this.#next();
    task?.done(answer);
  }

  #failed(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#failedMs = performance.now();
    this.#lost();
  }

  #lost(): void {
    this.#worker = undefined;
    const lost = [...(this.#running === null ? [] : [this.#running]), ...this.#waiting.splice(0)];
    this.#running = null;
    for (const task of lost) task.done('unknown');
  }
}
