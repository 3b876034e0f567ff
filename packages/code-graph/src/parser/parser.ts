import type { ProgramProcess } from '@holdpoint/sandbox';
import { nameWith } from '../view/hint.ts';

export interface ParserDeps {
  /** Starts a process for the run. */
  start(): ProgramProcess;
  /** Milliseconds for one file. More than the parser gives itself: what it does before and after parsing counts, too. */
  fileMs: number;
}

/** A busy host takes seconds to start Node. */
const startMs = 60_000;

/** The line that the program answered, or why there is none. */
export type Parsed = { line: Uint8Array } | { reason: 'timeout' | 'parser_failed' };

/** The parser of one run. A file that takes it down twice, or takes too long, is not parsed; the next file gets a new process. */
export class Parser {
  readonly #deps: ParserDeps;
  #process: ProgramProcess | undefined;
  #started: Promise<ProgramProcess> | undefined;

  constructor(deps: ParserDeps) {
    this.#deps = deps;
  }

  /** May be called again before it resolves. @throws SandboxError when no process can be started */
  async parse(hint: string, content: Uint8Array): Promise<Parsed> {
    for (let failures = 0; failures < 2; ) {
      const process = await this.#running();
      try {
        return { line: await process.request({ name: nameWith(hint) }, content, { timeoutMs: this.#deps.fileMs }) };
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code === 'EPROGRAMTIMEOUT') return { reason: 'timeout' };
        if (code === 'EPROGRAMVIOLATION') return { reason: 'parser_failed' };
        if (code !== 'EPROGRAMLOST') throw error;
        // A file that waited behind the one that was being parsed has a cause here: it did not begin.
        if (!(error instanceof Error) || error.cause === undefined) failures++;
      }
    }
    return { reason: 'parser_failed' };
  }

  /** Ends the process: what it wrote cannot be trusted. */
  async end(): Promise<void> {
    await this.#process?.close();
  }

  /** Asks for nothing first: the start is no part of the time of a file, and no file can fail it. */
  #running(): Promise<ProgramProcess> {
    if (this.#started !== undefined && this.#process?.usable === true) return this.#started;
    const process = this.#deps.start();
    this.#process = process;
    this.#started = process.request({ name: '' }, new Uint8Array(), { timeoutMs: startMs }).then(() => process);
    return this.#started;
  }
}
