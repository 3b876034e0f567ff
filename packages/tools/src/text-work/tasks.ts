import type { OutputInput, ReadOutput } from '../output-schema/read-output.ts';
import { plainOutput } from '../result-text/command-output.ts';
import type { PageBody } from '../web/read-page.ts';
import type { ResultsPage } from '../web/search/read-results.ts';
import { applyHunks, type HunksInput } from './apply-hunks.ts';
import { applyPatch, type PatchInput } from './apply-patch.ts';
import { type ExcerptInput, excerptOf } from './excerpt.ts';
import { findText } from './find-text.ts';
import { type LineRangeInput, lineRange } from './line-range.ts';
import { longText } from './long-text.ts';
import { nearestPaths } from './nearest-paths.ts';
import { type NotebookInput, readNotebook } from './notebook.ts';
import { diffWritten, type EditInput, editText, type WrittenInput } from './replace-text.ts';

/** All work on texts of unknown size. The functions are pure: their input and output cross into a thread and back. */
export const textTasks = {
  edit: (input: EditInput) => editText({ ...input, data: asBuffer(input.data) }),
  patch: (input: PatchInput) => applyPatch({ ...input, data: asBuffer(input.data) }),
  hunks: (input: HunksInput) => applyHunks({ ...input, data: asBuffer(input.data) }),
  diff: (input: WrittenInput) => diffWritten({ ...input, before: input.before && asBuffer(input.before) }),
  excerpt: (input: ExcerptInput) => excerptOf({ ...input, data: asBuffer(input.data) }),
  long: longText,
  printed: ({ stdout, stderr }: Printed): Printed => ({ stdout: plainOutput(stdout), stderr: plainOutput(stderr) }),
  lines: (input: LineRangeInput) => lineRange({ ...input, data: asBuffer(input.data) }),
  replace_first: (input: FirstReplacement) => replaceFirst({ ...input, data: asBuffer(input.data) }),
  nearest_paths: nearestPaths,
  notebook: (input: NotebookInput) => readNotebook({ ...input, data: asBuffer(input.data) }),
  weigh: weighJson,
  // Imported here: only a thread loads the validator.
  output: async (input: OutputInput): Promise<ReadOutput> => {
    const { readOutput } = await import('../output-schema/read-output.ts');
    return readOutput(input);
  },
  // Imported here: only a thread loads the HTML parser.
  page: async (input: PageBody) => {
    const { readPage } = await import('../web/read-page.ts');
    return readPage({ ...input, body: asBuffer(input.body) });
  },
  results: async (input: ResultsPage) => {
    const { readResults } = await import('../web/search/read-results.ts');
    return readResults({ ...input, body: asBuffer(input.body) });
  },
};
export type TextTasks = typeof textTasks;

/** The streams of a command. */
interface Printed {
  stdout: string;
  stderr: string;
}

/** A Buffer arrives in a thread as a Uint8Array. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const mostValues = 50_000;
const deepest = 200;
const longestUnreadable = 64 * 1024;

/** `reason` completes a sentence: "its answer …". */
type Weighed = { ok: true } | { ok: false; reason: string };

/**
 * Whether a worker can process the answer of a provider: parsing, checking and copying half a million values takes seconds. The arguments
 * of calls count too, as JSON or as a text with JSON inside.
 */
function weighJson({ text }: { text: string }): Weighed {
  const parsed = parse(text);
  // The caller reports the syntax error.
  if (parsed === undefined) return { ok: true };
  let values = 0;
  const level: { value: unknown; depth: number }[] = [{ value: parsed.value, depth: 0 }];
  for (let next = level.pop(); next !== undefined; next = level.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > deepest) return { ok: false, reason: `is nested more than ${deepest} deep` };
    for (const [key, inner] of Object.entries(value)) {
      values += 1;
      if (values > mostValues) return { ok: false, reason: `has more than ${mostValues} values` };
      const held = key === 'arguments' && typeof inner === 'string' ? parse(inner) : { value: inner };
      if (held !== undefined) level.push({ value: held.value, depth: depth + 1 });
      else if (String(inner).length > longestUnreadable)
        return { ok: false, reason: 'has long arguments that are not JSON' };
    }
  }
  return { ok: true };
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

interface FirstReplacement {
  data: Buffer;
  old_string: string;
  new_string: string;
}

/** `found`: the number of disjoint occurrences. `line`: the first line of the first occurrence. */
type ReplacedFirst = { found: 0 } | { found: number; line: number; data: Buffer };

/** Replaces the first occurrence of a text byte for byte, and counts all. */
function replaceFirst({ data, old_string, new_string }: FirstReplacement): ReplacedFirst {
  const wanted = Buffer.from(old_string);
  let found = 0;
  let first = 0;
  findText(data, wanted, { overlapping: false }, (offset) => {
    if (found === 0) first = offset;
    found += 1;
    return true;
  });
  if (found === 0) return { found: 0 };
  let line = 1;
  for (let at = 0; at < first; at++) if (data[at] === newline) line += 1;
  const parts = [data.subarray(0, first), Buffer.from(new_string), data.subarray(first + wanted.length)];
  return { found, line, data: Buffer.concat(parts) };
}

const newline = 0x0a;
