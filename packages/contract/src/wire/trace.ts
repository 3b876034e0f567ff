import { z } from 'zod';
import { integerParameter } from './page.ts';

export { type Trace, type TraceSpan, traceSchema } from '../trace.ts';

export const readTraceQuerySchema = z.strictObject({
  after: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Return spans that ended after this sequence number of the log. Default: from the start'),
  limit: integerParameter(1, 10_000)
    .default(5000)
    .describe('Spans per page. A step with one attempt has three; one event may end a few more than fit'),
});
