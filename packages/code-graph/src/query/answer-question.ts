import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '@holdpoint/contract';
import { z } from 'zod';
import { CodeGraphError } from '../errors.ts';
import { type Asked, badParams, type Question, type Row } from './define-question.ts';
import { type PageParams, questionOf } from './questions.ts';

export interface QuestionText {
  query: string;
  params: Readonly<Record<string, Json>> | undefined;
  snapshot: string;
  /** Bytes of the results as JSON. */
  max_bytes: number;
  /** On the clock of `performance.now()`. */
  deadline: number;
}

export interface Answer {
  results: Row[];
  /** Where the next answer begins; absent after the last result. */
  cursor?: string;
}

/** @throws CodeGraphError for an unknown question, independent of the graph */
export function checkQuestion({ query, params }: Pick<QuestionText, 'query' | 'params'>) {
  const question = questionOf(query);
  return { question, params: question.parse(params) };
}

/** The results from the cursor on. Fewer than `limit` when they would have too many bytes. */
export function answerQuestion(asked: Asked, text: QuestionText): Answer {
  const { question, params } = checkQuestion(text);
  const bound = digestOf(text);
  const from = params.cursor === undefined ? undefined : readCursor(params.cursor, bound);
  const results: Row[] = [];
  let bytes = '{"results":[]}'.length;
  for (const { key, index, row } of rowsOf(asked, { question, params, from, deadline: text.deadline })) {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    const isFull = results.length === params.limit || bytes + cursorBytes > text.max_bytes;
    if (isFull && results.length > 0) return { results, cursor: writeCursor({ bound, key, index }) };
    if (isFull)
      throw new CodeGraphError(
        'EQUOTA',
        `One result has more than ${text.max_bytes} bytes.`,
        'Raise the limit of bytes of the run.',
      );
    results.push(row);
  }
  return { results };
}

/** Room for the cursor: a path may have 4,096 bytes. */
const cursorBytes = 6000;

interface Walk {
  question: Question<PageParams>;
  params: PageParams;
  from: Cursor | undefined;
  deadline: number;
}

function* rowsOf(asked: Asked, { question, params, from, deadline }: Walk) {
  for (const { key, rows } of question.groups(asked, params)) {
    if (from !== undefined && key < from.key) continue;
    const first = key === from?.key ? from.index : 0;
    let index = 0;
    for (const row of rows()) {
      if (performance.now() > deadline) throw lateAnswer();
      if (index >= first) yield { key, index, row };
      index++;
    }
    if (performance.now() > deadline) throw lateAnswer();
  }
}

export const lateAnswer = (): CodeGraphError =>
  new CodeGraphError(
    'ETIMEOUT',
    'The graph did not answer in time.',
    'Ask for less: a name instead of a glob, or a path.',
  );

const cursorSchema = z.strictObject({ bound: z.string(), key: z.string(), index: z.int().min(0) });
type Cursor = z.output<typeof cursorSchema>;

const writeCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function readCursor(text: string, bound: string): Cursor {
  const cursor = cursorSchema.safeParse(jsonOf(Buffer.from(text, 'base64url').toString('utf8'))).data;
  if (cursor === undefined)
    throw badParams('/params/cursor: this is no cursor.', 'Give the cursor of an answer as it was.');
  if (cursor.bound === bound) return cursor;
  throw badParams(
    '/params/cursor: it belongs to another query, or to another snapshot.',
    'Ask the same query with the same parameters, and with `commit` where the files have changed; or begin again without a cursor.',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parameters on which an answer depends, without the cursor and the limit. */
function digestOf({ query, params = {}, snapshot }: QuestionText): string {
  const { cursor: _, limit: __, ...rest } = params;
  return createHash('sha256')
    .update(canonicalJson([query, rest, snapshot]))
    .digest('hex')
    .slice(0, 12);
}
