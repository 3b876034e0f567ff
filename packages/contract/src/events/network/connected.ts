import { attempt, stepEvent, z } from '../event.ts';

export const networkConnected = stepEvent('network.connected', {
  data: {
    attempt,
    host: z.string(),
    port: z.int(),
    address: z
      .string()
      .optional()
      .describe('The address that the name resolved to; absent when no connection was made'),
    verdict: z.enum(['allowed', 'refused', 'failed']),
    reason: z.string().optional(),
    detail: z
      .string()
      .optional()
      .describe('Why it was refused or failed, for people: address, reason, and the setting that opens the host'),
    bytes_up: z.int(),
    bytes_down: z.int(),
    duration_ms: z.number(),
  },
  line({ data: { host, port, verdict, reason, detail } }, { call }) {
    const why = reason === undefined ? '' : ` (${reason})`;
    return `${call} → ${host}:${port} ${verdict}${why}${detail === undefined ? '' : `: ${detail}`}`;
  },
});

/**
 * A connection of a call to the outside, or an attempt to connect, logged at its end.
 *
 * - `host`: normalised when valid; otherwise the text of the client, at most 300 characters. Empty when the client named no host.
 * - `port`: 0 when the client named no port.
 * - `verdict`: `refused` when no connection was allowed, `failed` when the host was allowed but could not be reached.
 * - `reason`: why the connection was refused, failed, or was cut short: an `EgressErrorCode`, or `EABORTED` (this side gave up). The proxy
 *   adds `EPROXYAUTH` (no token or a wrong token), `EPROXYREQUEST` (a request outside of a proxy's service) and `EPROXYBUSY` (too many connections).
 * - `bytes_up`, `bytes_down`: without TLS framing when the guarded fetch, not the program, speaks TLS.
 */
export type Connection = Omit<z.infer<typeof networkConnected.schema>['data'], 'attempt'>;
