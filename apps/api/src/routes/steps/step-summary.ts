import type { Payload } from '@holdpoint/contract';
import { mostSummaryBytes, type StepSummary } from '@holdpoint/contract/wire';
import type { NumberedStep } from '@holdpoint/engine';

const mostToolBytes = 64;
const mostCodeBytes = 24;

export function toSummary({ step, number }: NumberedStep): StepSummary {
  const { id, call, effect, status, outcome } = step;
  const summary = {
    ...{ id, number, turn: call.turn, tool: '', title: '', effect, status },
    error: outcome?.error === undefined ? null : cutTo(outcome.error.code, mostCodeBytes),
    ...{ started_at: step.started_at ?? null, settled_at: step.settled_at ?? null },
  };
  summary.tool = cutTo(call.tool, Math.min(mostToolBytes, mostSummaryBytes - bytesOf(summary)));
  summary.title = cutTo(call.name ?? firstText(call.written ?? step.args), mostSummaryBytes - bytesOf(summary));
  return summary;
}

/** Only the beginning of a large value is known, possibly without the end of the text. */
function firstText(args: Payload): string {
  if ('preview' in args) return readText(/:\s*"((?:[^"\\]|\\.)*)/.exec(args.preview)?.[1] ?? '');
  const { json } = args;
  const values = typeof json === 'object' && json !== null ? Object.values(json) : [];
  return values.find((value) => typeof value === 'string') ?? '';
}

function readText(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    return '';
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The beginning of a text on a single line: its JSON has at most this many bytes, without its quotation marks. */
function cutTo(text: string, most: number): string {
  const line = text.slice(0, most).replaceAll(/\s+/g, ' ').trim();
  if (line.length === text.length && bytesOf(line) - 2 <= most) return line;
  let cut = '';
  let left = most - bytesOf('…') + 2;
  if (left < 0) return '';
  for (const character of line) {
    left -= bytesOf(character) - 2;
    if (left < 0) break;
    cut += character;
  }
  return `${cut}…`;
}
