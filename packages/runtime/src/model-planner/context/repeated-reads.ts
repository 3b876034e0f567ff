import type { PastTurn, SettledStep } from '@holdpoint/engine/worker';
import type { Registry } from '@holdpoint/tools';
import { z } from 'zod';

/** Calls of a turn that read lines which stand earlier in the request, with the turn of the first reading. */
export type RepeatedReads = ReadonlyMap<SettledStep, number>;

/** The hash is of the whole file. */
const readLines = z.object({
  ...{ path: z.string(), content: z.string(), sha256: z.string() },
  ...{ start_line: z.int(), line_count: z.int() },
});

/** A shorter text costs no more than the words about it. */
const leastBytes = 400;

/**
 * Finds the readings of a file that has not changed since an earlier one of the same lines. Looks at whole results alone: a result that was
 * cut, or replaced by a summary, stands for nothing. Depends on the turns before a turn only, so the beginning of a request stays the same.
 */
export function findRepeatedReads(
  registry: Pick<Registry, 'render'>,
  toolset: string,
  turns: readonly PastTurn[],
  isWhole: (turn: PastTurn) => boolean,
): RepeatedReads {
  const seen = new Map<string, number>();
  const repeated = new Map<SettledStep, number>();
  const hasOwnForm = registry.render(toolset, { tool: 'read_file', status: 'succeeded', result: null }) === undefined;
  if (hasOwnForm) return repeated;
  for (const turn of turns.filter(isWhole)) {
    for (const step of turn.steps) {
      const key = keyOf(step);
      if (key === undefined) continue;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, turn.turn);
      else repeated.set(step, first);
    }
  }
  return repeated;
}

/** Undefined for a call that is no reading of lines, and where a person decided, because their words stand in the result. */
function keyOf({ tool, status, native, long, decided }: SettledStep): string | undefined {
  if (tool !== 'read_file' || status !== 'succeeded' || long !== undefined || decided?.length) return undefined;
  const parsed = readLines.safeParse(native);
  if (!parsed.success || Buffer.byteLength(parsed.data.content) < leastBytes) return undefined;
  const { path, sha256, start_line, line_count } = parsed.data;
  return JSON.stringify([path, sha256, start_line, line_count]);
}

export const repeatedText = (turn: number): string =>
  `unchanged: these are the lines that you read in turn ${turn}. That result stands above and is still right.`;
