import type { ProgramProcess } from '@holdpoint/sandbox';
import { z } from 'zod';
import { type SyntaxProblem, syntaxProblemSchema } from '../facts.ts';
import { languageOf } from '../grammars/grammar-of.ts';
import { hintOf, nameWith } from '../view/hint.ts';

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

/** A file before and after a change. */
export interface ChangedText {
  path: string;
  before: Uint8Array;
  after: Uint8Array;
}

const replySchema = z.union([
  z.strictObject({ errors: z.array(syntaxProblemSchema).max(50) }),
  z.strictObject({ unparsed: z.string().max(100) }),
]);

/** Macros of C make its parser find errors where there are none. */
const unsure = new Set(['c', 'cpp']);

/** True for a language that the parser checks. The name or the first line of a file names its language. */
export function isCheckable({ path, after }: ChangedText): boolean {
  const language = languageOf(path, after.subarray(0, 256));
  return language !== undefined && !unsure.has(language);
}

/** The syntax errors that a change brought; none where the parser has no answer. The parser reads hostile files, so its answer is checked. */
export async function checkSyntax(parser: Parser, change: ChangedText): Promise<SyntaxProblem[]> {
  const parsed = await parser.check(hintOf(change.path), change);
  if (!('line' in parsed) || parsed.line.length > longestReply) return [];
  const reply = replySchema.safeParse(parse(parsed.line));
  return reply.success && 'errors' in reply.data ? reply.data.errors : [];
}

const longestReply = 64 * 1024;

function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'));
  } catch {
    return undefined;
  }
}
