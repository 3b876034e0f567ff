import { z } from 'zod';
import { type SyntaxProblem, syntaxProblemSchema } from '../facts.ts';
import { languageOf } from '../grammars/language-of.ts';
import { hintOf } from '../view/hint.ts';
import type { Parser } from './parser.ts';

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
