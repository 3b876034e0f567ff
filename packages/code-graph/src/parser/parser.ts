import type { ProgramProcess } from '@holdpoint/sandbox';
import { nameWith } from '../view/hint.ts';

export interface ParserDeps {
  /** Starts a process for the run. */
  start(): ProgramProcess;
}

/** Longer than the parser's own deadline: what it does before and after parsing counts, too. */
const timeoutMs = 10_000;

/** The line that the program answered, or why there is none. */
export type Parsed = { line: Uint8Array } | { reason: 'timeout' | 'parser_failed' };

/** The parser of one run. A file that takes it down twice, or takes too long, is not parsed; the next file gets a new process. */
export class Parser {
  readonly #deps: ParserDeps;
  #process: ProgramProcess | undefined;

  constructor(deps: ParserDeps) {
    this.#deps = deps;
  }

  /** May be called again before it resolves. @throws SandboxError when no process can be started */
  async parse(hint: string, content: Uint8Array): Promise<Parsed> {
    for (let failures = 0; failures < 2; ) {
      if (this.#process?.usable !== true) this.#process = this.#deps.start();
      try {
        return { line: await this.#process.request({ name: nameWith(hint) }, content, { timeoutMs }) };
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
}
