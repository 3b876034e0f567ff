import { Readable } from 'node:stream';
import * as wire from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';
import { clientGone } from '../../live/stream.ts';
import { binarySchema } from '../../schema/binary.ts';

/** GET /v1/audit, /v1/audit/head and /v1/audit/verify. */
export function readAuditRoutes(app: App): void {
  app.get(
    '/v1/audit',
    {
      config: { access: 'audit:read' },
      schema: {
        tags: ['audit'],
        operationId: 'listAudit',
        summary: 'Read the audit log, or export it',
        description: `With \`Accept: ${wire.jsonLines}\`, or \`format=jsonl\`, all records after the cursor are streamed, one per line, as they were sealed.`,
        querystring: wire.listAuditQuerySchema,
        response: {
          200: {
            description: 'A page of records, or a stream of them',
            content: {
              'application/json': { schema: wire.auditPageSchema },
              [wire.jsonLines]: { schema: binarySchema },
            },
          },
        },
      },
    },
    async ({ query: { limit, cursor, format, order, ...rest }, headers, deps }, reply) => {
      const isStream = format === 'jsonl' || (headers.accept?.includes(wire.jsonLines) ?? false);
      const isBack = order === 'desc' && !isStream;
      const filter = { ...rest, [isBack ? 'before' : 'after']: cursor, tenant: deps.holder.caller.tenant };
      if (isStream) {
        const signal = AbortSignal.any([clientGone(reply), deps.closing]);
        const lines = Readable.from(linesOf(deps, filter, signal), { objectMode: false });
        return reply.headers({ 'content-type': wire.jsonLines, connection: 'close' }).send(lines);
      }
      const { items, next } = await deps.audit.list(filter, limit, isBack ? 'desc' : 'asc');
      const page = { data: items, next_cursor: next ?? null, has_more: next !== undefined };
      return reply.type('application/json; charset=utf-8').send(page);
    },
  );

  app.get(
    '/v1/audit/head',
    {
      config: { access: 'audit:verify' },
      schema: {
        tags: ['audit'],
        operationId: 'auditHead',
        summary: 'Read the last record of the audit log, to keep it elsewhere',
        response: { 200: wire.auditHeadSchema },
      },
    },
    ({ deps }) => deps.audit.head(),
  );

  app.get(
    '/v1/audit/verify',
    {
      config: { access: 'audit:verify' },
      schema: {
        tags: ['audit'],
        operationId: 'verifyAudit',
        summary: 'Compare the audit log with its chain and with the logs of all runs',
        description: 'Reads every record and every sealed event. What is wrong is in `findings`; the answer is a 200.',
        querystring: wire.verifyAuditQuerySchema,
        response: { 200: wire.auditReportSchema },
      },
    },
    async ({ query: { head }, deps }, reply) => {
      const [seq = '0', hash = ''] = head?.split(':') ?? [];
      const kept = head === undefined ? undefined : { seq: Number(seq), hash };
      return deps.audit.verify({ kept, signal: AbortSignal.any([clientGone(reply), deps.closing]) });
    },
  );
}

type Filter = Parameters<ApiDeps['audit']['lines']>[0];

async function* linesOf(
  { audit }: Pick<ApiDeps, 'audit'>,
  filter: Filter,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const line of audit.lines(filter)) {
    if (signal.aborted) return;
    yield `${line}\n`;
  }
}
