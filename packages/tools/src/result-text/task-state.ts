import { z } from 'zod';
import { stderrOf, streams } from './command-output.ts';
import { errorLine } from './error-line.ts';
import type { PlainCall, ResultText } from './result-text.ts';
import { renderValue } from './result-text.ts';
import { counted, fileText, pathLine } from './shown-text.ts';

const page = z.object({ text: z.string(), next_cursor: z.int(), total_bytes: z.int(), omitted_bytes: z.int() });
const schema = z.object({
  task_id: z.string(),
  status: z.string(),
  kind: z.string().optional(),
  title: z.string().optional(),
  exit_code: z.int().nullish(),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  message: z.string().optional(),
  stdout: page.optional(),
  stderr: page.optional(),
});
type Task = z.output<typeof schema>;

/** The state of a background task, with what it printed or said. */
export function renderTask({ status, value, error }: PlainCall): ResultText | undefined {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return status === 'succeeded' ? undefined : { head: errorLine(status, error), body: '' };
  const task = parsed.data;
  const { body, stderrLines } = streams({ stdout: task.stdout?.text ?? '', stderr: task.stderr?.text ?? '' });
  const failed = status === 'succeeded' ? [] : [errorLine(status, error)];
  const where = stderrLines === 0 ? [] : [stderrOf(stderrLines, task.stdout?.text === '')];
  return {
    head: [...failed, stateOf(task), ...where, ...cursors(task)].join('; '),
    body: body === '' ? fileText(task.message ?? '') : body,
  };
}

function stateOf({ task_id, status, exit_code, reason }: Task): string {
  const exit = exit_code === undefined || exit_code === null ? '' : `, exit ${exit_code}`;
  return `${task_id} is ${status}${exit}${reason === undefined ? '' : ` (${reason.code}: ${reason.message})`}`;
}

function cursors({ stdout, stderr }: Task): string[] {
  const named = Object.entries({ stdout, stderr }).flatMap(([name, one]) =>
    one === undefined || one.total_bytes === 0 ? [] : [`${name}_cursor ${one.next_cursor} of ${one.total_bytes}`],
  );
  const omitted = [stdout, stderr].reduce((sum, one) => sum + (one?.omitted_bytes ?? 0), 0);
  return [
    ...(named.length === 0 ? [] : [`continue with ${named.join(', ')}`]),
    ...(omitted === 0 ? [] : [`${counted(omitted, 'byte')} between the first and the last MiB were not kept`]),
  ];
}

const merged = z.object({ paths: z.array(z.string()), left_out: z.array(z.string()).default([]) });

export const renderMerge = renderValue(merged, ({ paths, left_out }) => ({
  head: `merged ${counted(paths.length, 'path')}${left_out.length === 0 ? '' : `; not merged: ${left_out.map(pathLine).join(', ')}`}`,
  body: paths.map(pathLine).join('\n'),
}));
