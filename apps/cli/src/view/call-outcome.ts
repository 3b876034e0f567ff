import { imageIn, imageLine, type Payload } from '@holdpoint/contract';
import { z } from 'zod';
import { payloadValue } from '../output/index.ts';
import { counted, bytes as sizeText } from '../output/units.ts';

/** The work of a call, as far as its value shows: for a line, and the lines below. */
export interface CallOutcome {
  /** `exit 1`, `+3 -1`, `12 found` */
  summary: string;
  printed: string[];
  patch: string | undefined;
}

const commandSchema = z.looseObject({
  exit_code: z.int().nullable(),
  signal: z.string().nullish(),
  stdout: z.string(),
  stderr: z.string(),
});
const editSchema = z.looseObject({ diff: z.string() });
const foundSchema = z.looseObject({ total: z.int() });
const writtenSchema = z.looseObject({ created: z.boolean(), bytes: z.int() });
const contentSchema = z.looseObject({ content: z.string() });
const readSchema = z.looseObject({ total_lines: z.int() });

/**
 * @param value of a tool of any toolset; missing facts are left out
 * @param args the arguments of the call: the content of a new file
 */
export function callOutcome(value: Payload | undefined, args: Payload): CallOutcome {
  const nothing: CallOutcome = { summary: '', printed: [], patch: undefined };
  if (value === undefined) return nothing;
  const given = payloadValue(value);
  const command = commandSchema.safeParse(given).data;
  if (command !== undefined) {
    const { exit_code, signal, stdout, stderr } = command;
    const summary = exit_code === null ? (signal ?? '') : exit_code === 0 ? '' : `exit code ${exit_code}`;
    return { ...nothing, summary, printed: linesOf(stdout).concat(linesOf(stderr)) };
  }
  const edit = editSchema.safeParse(given).data;
  if (edit !== undefined) return { ...nothing, summary: countsOf(edit.diff), patch: edit.diff };
  const written = writtenSchema.safeParse(given).data;
  if (written !== undefined) {
    const content = contentSchema.safeParse(payloadValue(args)).data?.content;
    if (!written.created || content === undefined || content === '')
      return { ...nothing, summary: `${written.created ? 'new' : 'replaced'}, ${sizeText(written.bytes)}` };
    const lines = linesOf(content);
    return { ...nothing, summary: `new, +${lines.length}`, patch: lines.map((line) => `+${line}`).join('\n') };
  }
  const found = foundSchema.safeParse(given).data;
  if (found !== undefined) return { ...nothing, summary: `${found.total} found` };
  const image = imageIn(given);
  if (image !== undefined) return { ...nothing, summary: imageLine(image) };
  const read = readSchema.safeParse(given).data;
  if (read !== undefined) return { ...nothing, summary: counted(read.total_lines, 'line') };
  return nothing;
}

/** `+3 -1` */
function countsOf(patch: string): string {
  const lines = patch.split('\n');
  const count = (mark: string): number =>
    lines.filter((line) => line.startsWith(mark) && !line.startsWith(mark.repeat(3))).length;
  return `+${count('+')} -${count('-')}`;
}

const linesOf = (text: string): string[] => (text.trimEnd() === '' ? [] : text.trimEnd().split('\n'));
