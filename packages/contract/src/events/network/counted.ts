import { attempt, stepEvent, z } from '../event.ts';

/** Connections of a call to a place, and to several hosts together. The audit log has the same shape. */
export const connectionCount = {
  host: z.string().nullable().describe('null: several hosts'),
  port: z.int().nullable(),
  verdict: z.enum(['allowed', 'refused', 'failed']),
  reason: z.string().optional(),
  connections: z.int(),
  bytes_up: z.int(),
  bytes_down: z.int(),
};
const countSchema = z.object(connectionCount);

export const networkCounted = stepEvent('network.counted', {
  data: {
    attempt,
    counts: z
      .array(countSchema)
      .describe('Connections after the hundredth of the attempt. They have no events of their own'),
  },
  line: ({ data }, { call }) => `${call} → ${data.counts.map(countText).join('; ')}`,
  tone: 'faint',
  isQuiet: true,
});

const countText = ({ host, port, verdict, reason, connections }: z.infer<typeof countSchema>): string =>
  `${connections} more to ${host === null ? 'other hosts' : `${host}:${port}`} ${verdict}${reason === undefined ? '' : ` (${reason})`}`;
