import { imageIn, imageLine, type Payload, type StepSettled } from '@holdpoint/contract';
import type { RunEvent } from '@holdpoint/contract/wire';
import { codeText, nameText, oneLine, plain } from '@holdpoint/readable';
import widthOf from 'fast-string-truncated-width';
import { z } from 'zod';
import { shortId } from '../naming/ids.ts';
import { argsInWords } from '../output/call-text.ts';
import { duration, foldedPatch, payloadValue } from '../output/index.ts';
import { fit, fold } from '../output/layout.ts';
import { counted, bytes as sizeText } from '../output/units.ts';
import { type Colors, commandLine } from '../shell/index.ts';

/** The work of a call, as far as its value shows: for a line, and the lines below. */
interface CallOutcome {
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
function callOutcome(value: Payload | undefined, args: Payload): CallOutcome {
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

/** A planned call. */
export interface PlannedCall {
  tool: string;
  /** The tool and its main argument, safe for a terminal. */
  text: string;
  args: Payload;
}

export function plannedCall({
  tool,
  args,
  name,
}: Pick<Extract<RunEvent, { type: 'step.created' }>['data'], 'tool' | 'args' | 'name'>): PlannedCall {
  const { words, isPath } = argsInWords(payloadValue(args));
  const main = todosIn(args) !== undefined ? '' : isPath ? nameText(words) : oneLine(codeText(words));
  const label = name === undefined ? nameText(tool) : `${oneLine(name)}: ${nameText(tool)}`;
  return { tool, text: `${label} ${main}`.trim(), args };
}

export interface CallStyle {
  colors: Colors;
  width: number;
}

/** A line about the end of a call; below it the end of the call's output, and the call's changes. */
export function callLines(event: StepSettled, call: PlannedCall, style: CallStyle): string[] {
  const { colors, width } = style;
  const { value, error, duration_ms } = event.data;
  const isGood = event.type === 'step.succeeded';
  const todos = isGood ? todosIn(call.args) : undefined;
  const { printed, patch, ...outcome } = callOutcome(value, call.args);
  const summary = todos === undefined ? outcome.summary : doneText(todos);
  const ending = event.type.slice('step.'.length).replace('_', ' ');
  const trail = [
    ...(isGood || (summary !== '' && event.type === 'step.failed') ? [] : [ending]),
    ...(summary === '' ? [] : [summary]),
    ...(error === undefined || summary.startsWith('exit') ? [] : [oneLine(`${error.code}: ${error.message}`)]),
    ...(duration_ms === undefined ? [] : [duration(duration_ms)]),
  ].join(' · ');
  const mark = isGood ? colors.green('✓') : (isOver(event) ? colors.yellow : colors.red)('✗');
  // Next to the mark and the two spaces around the mark: the call, ` · `, and its end.
  const room = width - 4 - (trail === '' ? 0 : 3);
  const head = fit(call.text, Math.max(12, room - Math.min(trail.length, 40)));
  const note = `: ${commandLine('steps', 'show', shortId(event.run_id), shortId(event.step_id))}`;
  const limits = isGood ? folded.output : folded.failure;
  // The line with the command is never cut.
  const output = fold(
    printed.map((line) => fit(plain(line), width - 6)),
    { ...limits, note },
  ).map((line) => colors.dim(`    │ ${line}`));
  const diff = patch === undefined || patch === '' ? [] : foldedPatch(patch, { colors, width: width - 6, note });
  return [
    `  ${mark} ${head}${trail === '' ? '' : colors.dim(` · ${fit(trail, Math.max(12, room - widthOf(head).width))}`)}`,
    ...output,
    ...(todos === undefined ? [] : todoLines(todos, { ...style, note })),
    ...diff.map((line) => `    ${line}`),
  ];
}

function todoLines(todos: readonly Todo[], { colors, width, note }: CallStyle & { note: string }): string[] {
  const lines = todos.map((todo) => todoPaint(todo, colors)(fit(todoText(todo), width - 4)));
  return fold(lines, { ...folded.todos, note }).map((line) => `    ${line}`);
}

const isOver = ({ type }: StepSettled): boolean =>
  type === 'step.rejected' || type === 'step.expired' || type === 'step.canceled';

const folded = {
  todos: { head: 20, tail: 10 },
  output: { head: 0, tail: 4 },
  failure: { head: 2, tail: 14 },
};

const statusSchema = z.enum(['pending', 'in_progress', 'completed']);
const todosSchema = z.looseObject({
  todos: z.array(z.looseObject({ content: z.string(), status: statusSchema })),
});

interface Todo {
  text: string;
  status: z.infer<typeof statusSchema>;
}

/** The todos written by a call of any toolset. Undefined: another call, or a call with a cut list. */
function todosIn(args: Payload): Todo[] | undefined {
  const read = todosSchema.safeParse(payloadValue(args)).data;
  return read?.todos.map(({ content, status }) => ({ text: oneLine(content), status }));
}

const doneText = (todos: readonly Todo[]): string =>
  `${todos.filter(({ status }) => status === 'completed').length} of ${todos.length} done`;

const marks = { pending: '☐', in_progress: '▸', completed: '☑' } as const;

const todoText = ({ text, status }: Todo): string => `${marks[status]} ${text}`;

/** Finished work is faint, work in progress stands out. */
const todoPaint = ({ status }: Todo, colors: Colors): ((text: string) => string) =>
  status === 'completed' ? colors.dim : status === 'in_progress' ? colors.bold : (text) => text;
