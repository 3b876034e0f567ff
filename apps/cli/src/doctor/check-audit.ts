import { findRedis } from '@holdpoint/embedded-redis';
import { type AuditState, readAuditState } from '@holdpoint/engine/audit';
import { connect } from '@holdpoint/engine/redis';
import { type Config, commandLine } from '../shell/index.ts';
import { quiet } from '../system/index.ts';
import type { Finding } from './finding.ts';

const name = 'audit log';
/** A dead writer is replaced within seconds. */
const lateMs = 60_000;

/** Whether the audit log ends where Redis says, and whether its writer keeps up. Empty when Redis does not answer. */
export async function checkAudit(config: Config): Promise<Finding[]> {
  const { address } = await findRedis(config);
  const connections = connect(address, quiet, { commandMs: 3000 });
  try {
    return [judgeAudit(await readAuditState({ redis: connections.state, dataDir: config.dataDir }), Date.now())];
  } catch {
    return [];
  } finally {
    await connections.close();
  }
}

export function judgeAudit({ head: { seq, hash }, sealedAt, unsealedSince }: AuditState, now: number): Finding {
  if (seq > 0 && sealedAt === undefined) {
    return {
      ...{ name, level: 'fail', text: `its files do not have record ${seq}, the last one, as it was sealed` },
      next: `To see what else is changed or missing: ${commandLine('audit', 'verify')}`,
    };
  }
  const last = seq === 0 ? 'no record yet' : `record ${seq} of ${sealedAt}, ${hash.slice(0, 12)}…`;
  const behindMs = unsealedSince === undefined ? 0 : now - Date.parse(unsealedSince);
  if (behindMs <= lateMs) return { name, level: 'ok', text: last };
  return {
    ...{ name, level: 'warn', text: `${last}; its writer is ${Math.round(behindMs / 1000)} s behind` },
    next: 'Start a worker: one of them writes the audit log. If one runs, read its log.',
  };
}
