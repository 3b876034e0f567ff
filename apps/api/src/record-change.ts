import { randomUUIDv7 } from 'node:crypto';
import type { AuditEntry } from '@holdpoint/contract';
import type { ApiDeps } from './deps.ts';

/** Adds a change outside of runs to the audit log, with the responsible caller. */
export const recordChange = (
  { audit, holder: { caller }, now }: Pick<ApiDeps, 'audit' | 'holder' | 'now'>,
  change: Pick<AuditEntry, 'subject' | 'action' | 'detail'>,
): Promise<void> =>
  audit.record({
    ...{ id: `change_${randomUUIDv7()}`, time: new Date(now()).toISOString(), tenant: caller.tenant },
    ...{ by: { name: caller.name, kind: caller.kind } },
    ...change,
  });
