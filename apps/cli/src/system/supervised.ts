import { setTimeout as wait } from 'node:timers/promises';
import { followLines, parseLogLine, problemOf } from './log-lines.ts';
import { type EndOptions, endProcess } from './processes.ts';
import { type Child, type ChildSpec, spawnChild } from './spawn-child.ts';

const pollMs = 500;
/** From this many ends in a row on, the report says so. */
const crashLoopEnds = 5;

export interface SupervisedDeps {
  /** Called right after every start: an unrecorded process cannot be ended later. */
  onSpawn(): void;
  report(text: string): void;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Waits between an end and the next start. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export const realPause: SupervisedDeps['pause'] = (ms, signal) => wait(ms, undefined, { signal });

/**
 * Keeps a part of the system alive: restarts the part with growing pauses. The other parts stay, however often the part ends: an API
 * without workers still accepts decisions, and workers without an API still finish their runs.
 */
export class Supervised {
  readonly name: string;
  #deps: SupervisedDeps;
  #spec: ChildSpec;
  #child: Child | undefined;
  #backoff = new Backoff();
  #startedAt = 0;
  #stopping = new AbortController();

  constructor(deps: SupervisedDeps, spec: ChildSpec) {
    this.name = spec.name;
    this.#deps = deps;
    this.#spec = spec;
  }

  get logFile(): string {
    return this.#spec.logFile;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** Starts the part without watching the process: the caller waits until the part is ready. */
  start(): Child {
    const child = this.#spawn();
    this.#deps.onSpawn();
    return child;
  }

  /** From now on restarts the part at each end. @param environment for the restarts */
  watch(environment: Readonly<Record<string, string>>): void {
    this.#spec = { ...this.#spec, environment };
    this.#keepAlive().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
  }

  /** Stops the part and waits until its process is gone. */
  async stop(options: EndOptions): Promise<void> {
    this.#stopping.abort();
    if (this.#child === undefined) return;
    const how = await endProcess(this.#child.identity, options);
    if (how === 'killed') this.#deps.report(`${this.name} had to be killed`);
  }

  async #keepAlive(): Promise<void> {
    const { signal } = this.#stopping;
    let how = await this.#reportProblemsUntilEnd();
    while (!signal.aborted) {
      const { times, pauseMs } = this.#backoff.ended(this.#deps.now() - this.#startedAt);
      this.#deps.report(this.#endText({ how, times, pauseMs }));
      await this.#deps.pause(pauseMs, signal);
      try {
        this.#spawn();
      } catch (error) {
        // For example no free process id, or no space for its log: try again later.
        how = messageOf(error);
        continue;
      }
      this.#record();
      how = await this.#reportProblemsUntilEnd();
    }
  }

  #endText({ how, times, pauseMs }: { how: string; times: number; pauseMs: number }): string {
    const again = `restart in ${pauseMs < 1000 ? `${pauseMs} ms` : `${pauseMs / 1000} s`}`;
    if (times < crashLoopEnds) return `${this.name} ended (${how}); ${again}`;
    return `${this.name} ended ${times} times in a row (last: ${how}); ${again}. Read ${this.#spec.logFile}; the other parts continue`;
  }

  async #reportProblemsUntilEnd(): Promise<string> {
    const child = this.#child;
    if (child === undefined) return 'never started';
    const over = new AbortController();
    const ended = child.ended.finally(() => over.abort());
    const signal = AbortSignal.any([over.signal, this.#stopping.signal]);
    const { logFile } = child.spec;
    try {
      for await (const text of followLines(logFile, { from: child.logStart, everyMs: () => pollMs, signal })) {
        const line = parseLogLine(text);
        const problem = line === undefined ? undefined : problemOf(line);
        if (problem !== undefined) this.#deps.report(`${this.name}: ${problem}`);
      }
    } catch (error) {
      this.#deps.report(`${this.name}: its log cannot be read: ${messageOf(error)}`);
    }
    return ended;
  }

  #spawn(): Child {
    this.#startedAt = this.#deps.now();
    this.#child = spawnChild(this.#spec);
    return this.#child;
  }

  /** An unrecorded process keeps running: a second process would be worse. */
  #record(): void {
    try {
      this.#deps.onSpawn();
    } catch (error) {
      this.#deps.report(`${this.name} could not be recorded: ${messageOf(error)}`);
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const firstMs = 250;
const maxMs = 60_000;
/** A process with a life this long had started well. */
const steadyMs = 60_000;

/** The pause before the restart of an ended process: doubled each time, until a process lives for a minute. */
export class Backoff {
  #times = 0;

  /** @returns the number of ends in a row, and the pause before the next start */
  ended(livedMs: number): { times: number; pauseMs: number } {
    this.#times = livedMs >= steadyMs ? 1 : this.#times + 1;
    return { times: this.#times, pauseMs: Math.min(firstMs * 2 ** (this.#times - 1), maxMs) };
  }
}
