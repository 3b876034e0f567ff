import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { counted, fileText, oneLine } from './shown-text.ts';

const hit = z.object({
  turn: z.int(),
  kind: z.enum(['call', 'answer', 'message']),
  tool: z.string().optional(),
  status: z.string().optional(),
  by: z.string().optional(),
  text: z.string(),
});
const schema = z.object({ hits: z.array(hit), searched_from: z.int().optional() });

/** Each hit below a line with its turn and kind. The lines of its text are indented, so that no text looks like such a line. */
export const renderHits = renderValue(schema, ({ hits, searched_from: from }) => ({
  head: `${counted(hits.length, 'hit')}${from === undefined ? '' : `; turns before ${from} were not searched`}`,
  body: hits
    .map((one) =>
      [
        `${titleOf(one)}`,
        ...fileText(one.text)
          .split('\n')
          .map((line) => `  ${line}`),
      ].join('\n'),
    )
    .join('\n\n'),
}));

function titleOf({ kind, turn, tool, status, by }: z.output<typeof hit>): string {
  const what = kind === 'call' ? `${tool}, ${status}` : kind === 'message' ? `message from ${by}` : 'your answer';
  return oneLine(`turn ${turn}: ${what}`);
}
