import { z } from 'zod';
import { errorLine } from './error-line.ts';
import type { PlainCall, ResultText } from './result-text.ts';
import { counted, outputText, withoutEnd } from './shown-text.ts';

const schema = z.object({
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  stdout_bytes: z.int().optional(),
  stderr_bytes: z.int().optional(),
  stdout_truncated: z.boolean().default(false),
  stderr_truncated: z.boolean().default(false),
});
type Output = z.output<typeof schema>;
const started = z.object({ task_id: z.string(), status: z.string() });

/** The output of a command below one line such as `exit 1`. An exit code is an answer, not an error of the call. */
export function renderCommand({ status, value, error, isLong }: PlainCall): ResultText | undefined {
  const background = started.safeParse(value);
  if (background.success) return { head: `started in the background as ${background.data.task_id}`, body: '' };
  const parsed = schema.safeParse(value);
  if (!parsed.success) return status === 'succeeded' ? undefined : { head: errorLine(status, error), body: '' };
  const output = parsed.data;
  const { body, stderrLines } = streams(output);
  const ended = status === 'succeeded' || error?.code === 'EEXIT';
  const end = ended ? endOf(output) : errorLine(status, error);
  const about = isLong ? [] : remarks(output, stderrLines);
  return { head: [end, ...about].join('; '), body, ...(ended && { isError: false }) };
}

/** A stream as a model reads it. */
export const plainOutput = (stream: string): string => withoutEnd(outputText(stream));

/** The streams of a command, and whether their middle is missing; undefined for a value of another shape. */
export function readStreams(value: unknown): { stdout: string; stderr: string; isCut: boolean } | undefined {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return undefined;
  const { stdout, stderr, stdout_truncated, stderr_truncated } = parsed.data;
  return { stdout, stderr, isCut: stdout_truncated || stderr_truncated };
}

const endOf = ({ exit_code, signal }: Output): string =>
  signal === null ? `exit ${exit_code ?? 'code unknown'}` : `ended by ${signal}`;

/** Both streams, stdout first. Counting the lines of stderr needs no separator, which stdout could imitate. */
export function streams({ stdout, stderr }: Pick<Output, 'stdout' | 'stderr'>): { body: string; stderrLines: number } {
  const [out, err] = [plainOutput(stdout), plainOutput(stderr)];
  const stderrLines = err === '' ? 0 : err.split('\n').length;
  return { body: [out, err].filter(Boolean).join('\n'), stderrLines };
}

function remarks({ stdout_truncated, stderr_truncated, stdout, ...bytes }: Output, stderrLines: number): string[] {
  const cut = [
    ...(stdout_truncated ? [`stdout had ${bytes.stdout_bytes ?? 'more'} bytes and is cut in its middle`] : []),
    ...(stderr_truncated ? [`stderr had ${bytes.stderr_bytes ?? 'more'} bytes and is cut in its middle`] : []),
  ];
  return [...(stderrLines === 0 ? [] : [stderrOf(stderrLines, stdout === '')]), ...cut];
}

/** Says which of the lines are stderr. */
export const stderrOf = (lines: number, isAll: boolean): string =>
  isAll ? 'stderr' : `the last ${lines === 1 ? 'line is' : `${counted(lines, 'line')} are`} stderr`;
