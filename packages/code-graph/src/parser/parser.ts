import type { ProgramProcess } from '@holdpoint/sandbox';
import { nameWith } from '../view/hint.ts';

export interface ParserDeps {
  /** Starts a process for the run. */
  start(): ProgramProcess;
  /** Milliseconds for a file. More than the parser's own limit: the work before and after the parse counts, too. */
  fileMs: number;
}

/** A busy host takes seconds to start Node. */
const startMs = 60_000;

/** The program's answer line, or the reason of its absence. */
export type Parsed = { line: Uint8Array } | { reason: 'timeout' | 'parser_failed' };

/**
 * The parser of a run. A file is left unparsed after two crashes of the parser, or after its time is up; the next file gets a new process.
 */
export class Parser {
  readonly #deps: ParserDeps;
  #process: ProgramProcess | undefined;
  #started: Promise<ProgramProcess> | undefined;

  constructor(deps: ParserDeps) {
    this.#deps = deps;
  }

  /** Callers need not wait for the previous call. @throws SandboxError when no process can be started */
  parse(hint: string, content: Uint8Array): Promise<Parsed> {
    return this.#ask({ name: nameWith(hint) }, content);
  }

  /** The syntax errors that a change of a file brought. As `parse`. */
  check(hint: string, { before, after }: { before: Uint8Array; after: Uint8Array }): Promise<Parsed> {
    return this.#ask({ name: nameWith(hint), before: before.length }, Buffer.concat([before, after]));
  }

  async #ask(header: { name: string; before?: number }, content: Uint8Array): Promise<Parsed> {
    for (let failures = 0; failures < 2; ) {
      const process = await this.#running();
      try {
        return { line: await process.request(header, content, { timeoutMs: this.#deps.fileMs }) };
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code === 'EPROGRAMTIMEOUT') return { reason: 'timeout' };
        if (code === 'EPROGRAMVIOLATION') return { reason: 'parser_failed' };
        if (code !== 'EPROGRAMLOST') throw error;
        // A file in the queue behind the failed file has a cause here: its parse had not begun.
        if (!(error instanceof Error) || error.cause === undefined) failures++;
      }
    }
    return { reason: 'parser_failed' };
  }

  /** Ends the process: its output is not trusted. */
  async end(): Promise<void> {
    await this.#process?.close();
  }

  /** The first request is empty: the start costs no file its time, and no file can fail the start. */
  #running(): Promise<ProgramProcess> {
    if (this.#started !== undefined && this.#process?.usable === true) return this.#started;
    const process = this.#deps.start();
    this.#process = process;
    this.#started = process.request({ name: '' }, new Uint8Array(), { timeoutMs: startMs }).then(() => process);
    return this.#started;
  }
}
