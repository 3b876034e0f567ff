import { setTimeout as wait } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import { type EndOptions, endProcess } from './end-process.ts';
import { followLines } from './follow-lines.ts';
import { parseLogLine, problemOf } from './log-line.ts';
import { type Child, type ChildSpec, spawnChild } from './spawn-child.ts';

const lookMs = 500;
const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
/** So many ends within so long are a crash loop: another start would not help. */
const mostEnds = 5;
const windowMs = 60_000;

export interface SupervisedDeps {
  /** Called after every start, before anything else happens: a process that is not recorded cannot be ended later. */
  onSpawn(): void;
  onCrashLoop(error: CliError): void;
  report(text: string): void;
  now(): number;
}

/** One part of the system, kept alive: started again when it ends by itself, with growing pauses. */
export class Supervised {
  readonly name: string;
  #deps: SupervisedDeps;
  #spec: ChildSpec;
  #child: Child | undefined;
  #ends: number[] = [];
  #stopping = new AbortController();

  constructor(deps: SupervisedDeps, spec: ChildSpec) {
    this.name = spec.name;
    this.#deps = deps;
    this.#spec = spec;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** Starts it, unwatched: what it comes to first is for the caller to see. */
  start(): Child {
    this.#child = spawnChild(this.#spec);
    this.#deps.onSpawn();
    return this.#child;
  }

  /** From now on it is started again when it ends. @param environment for those later starts */
  watch(environment: Readonly<Record<string, string>>): void {
    this.#spec = { ...this.#spec, environment };
    this.#keepAlive().catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      this.#deps.onCrashLoop(new CliError('child_failed', message, { cause: error }));
    });
  }

  /** Ends it and waits until it is gone. */
  async stop(options: EndOptions): Promise<void> {
    this.#stopping.abort();
    if (this.#child === undefined) return;
    const how = await endProcess(this.#child.identity, options);
    if (how === 'killed') this.#deps.report(`${this.name} had to be killed`);
  }

  async #keepAlive(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#child !== undefined) {
      const how = await this.#tellProblemsUntilEnd(this.#child);
      if (signal.aborted) return;
      const ends = this.#countEnd();
      if (ends >= mostEnds) return this.#giveUp(how);
      const pause = Math.min(firstBackoffMs * 2 ** (ends - 1), longestBackoffMs);
      this.#deps.report(`${this.name} ended (${how}); starting it again in ${pause} ms`);
      await wait(pause, undefined, { signal });
      this.start();
    }
  }

  async #tellProblemsUntilEnd(child: Child): Promise<string> {
    const over = new AbortController();
    const ended = child.ended.finally(() => over.abort());
    const signal = AbortSignal.any([over.signal, this.#stopping.signal]);
    const { logFile } = child.spec;
    for await (const text of followLines(logFile, { from: child.logStart, everyMs: () => lookMs, signal })) {
      const line = parseLogLine(text);
      const problem = line === undefined ? undefined : problemOf(line);
      if (problem !== undefined) this.#deps.report(`${this.name}: ${problem}`);
    }
    return ended;
  }

  /** @returns ends within the window, this one included */
  #countEnd(): number {
    const now = this.#deps.now();
    this.#ends = [...this.#ends.filter((time) => now - time < windowMs), now];
    return this.#ends.length;
  }

  #giveUp(how: string): void {
    const message = `${this.name} ended ${this.#ends.length} times within ${windowMs / 1000} s (at last: ${how}).`;
    const next = `Read ${this.#spec.logFile}; nothing acknowledged is lost.`;
    this.#deps.onCrashLoop(new CliError('crash_loop', message, { next }));
  }
}
