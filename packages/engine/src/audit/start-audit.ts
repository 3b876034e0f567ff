import { type FollowDeps, type FollowPace, followRuns } from '../following/follow-runs.ts';
import { auditChannel } from '../log/keys.ts';
import { type AuditDeps, openAuditWriter } from './audit-writer.ts';
import { ChainMoved } from './open-chain.ts';

interface Options extends Omit<AuditDeps, 'redact'>, FollowDeps, FollowPace {
  /** @default nothing is a secret */
  redact?: AuditDeps['redact'] | undefined;
}

/** Seals the events of all runs, in one process of many. */
export function startAudit({ redact = (text) => text, ...options }: Options): { stop(): Promise<void> } {
  const { logger, everyMs, lookMs, lostMs } = options;
  return followRuns(options, {
    name: 'audit',
    channels: [auditChannel],
    async open() {
      const writer = await openAuditWriter({ ...options, redact });
      return { unhandled: writer.unsealed, handle: writer.seal };
    },
    onError(error) {
      if (error instanceof ChainMoved) logger.debug({ err: error }, 'the audit log was opened again');
      else logger.warn({ err: error }, 'the audit log was not written; it is tried again');
    },
    ...{ everyMs, lookMs, lostMs },
  });
}
