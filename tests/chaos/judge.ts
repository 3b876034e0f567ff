import { join } from 'node:path';
import type { Stuck } from '@holdpoint/contract/wire';
import { openQueues } from '@holdpoint/engine';
import { openAudit } from '@holdpoint/engine/audit';
import { connect } from '@holdpoint/engine/redis';
import pino from 'pino';
import { git } from '../harness/repositories.ts';
import type { System } from '../harness/system.ts';
import type { Verdict } from '../harness/verdict.ts';
import { auditSound } from './checks/audit.ts';
import { externalEffects, publications, workspaceEffects } from './checks/effects.ts';
import { atRest, failures, leases, leftBehind, listedApprovals, notRepaired, wakeUps } from './checks/idle-system.ts';
import { filesKept, lossIsReported, notReady, wrongRedis } from './checks/installation.ts';
import { placesBounded, stepsBounded } from './checks/limits.ts';
import { acknowledged, dense, firstDecision, folded, neverRan } from './checks/log.ts';
import { logsBounded, loopsFree, readLogs } from './checks/logs.ts';
import { collect, type Found } from './collect.ts';
import type { Ledger } from './ledger.ts';
import { probePlaces } from './probe-places.ts';
import { probeSweeper } from './probe-sweeper.ts';

export interface Judgement {
  verdicts: Verdict[];
  found: Found;
  stuck: Stuck;
}

/** Collects all runs, ends the processes, and runs every check. */
export async function judge(
  { system, end }: { system: System; end(): Promise<void> },
  { ledger, repository, isCalm, slowness }: { ledger: Ledger; repository: string; isCalm: boolean; slowness: number },
): Promise<Judgement> {
  const { found, stuck, swept, audit, places } = await inspect(system);
  const readBranch = async (branch: string): Promise<{ files: string; commits: number } | undefined> => {
    const ref = `refs/heads/${branch}`;
    if ((await git(repository, 'for-each-ref', ref)) === '') return undefined;
    const files = await git(repository, 'rev-parse', `${ref}^{tree}`);
    return { files, commits: Number(await git(repository, 'rev-list', '--count', `main..${ref}`)) };
  };
  const finalTree = (runId: string): Promise<string> => {
    const shadow = join(system.folder(runId), 'shadow.git');
    const tree = git(shadow, 'rev-parse', `${found.runs.get(runId)?.run.snapshot}^{tree}`);
    return tree.catch((error: unknown) => `no tree: ${error instanceof Error ? error.message : error}`);
  };
  const verdicts = [
    ...[acknowledged(found, ledger), dense(found), folded(found)],
    ...[workspaceEffects(found, ledger), externalEffects(found, ledger), neverRan(found), firstDecision(found, ledger)],
    ...[atRest(found), leases(found), failures(found), wakeUps(found), listedApprovals(found), swept],
    ...[wrongRedis(ledger), notReady(ledger), filesKept(found, ledger), lossIsReported(found, ledger, stuck)],
    ...[placesBounded(found, ledger), stepsBounded(found, ledger), places],
    auditSound(audit, ledger),
    ...(isCalm ? [notRepaired(found, stuck)] : []),
    await publications(found, ledger, readBranch, finalTree),
  ];
  await end();
  const { dataDir, directory } = system;
  const logs = readLogs(directory);
  verdicts.push(
    leftBehind({ directory: join(dataDir, 'runs'), dataDir }),
    logsBounded(logs),
    loopsFree(logs, slowness),
  );
  return { verdicts, found, stuck };
}

async function inspect(system: System) {
  const { client, redis, dataDir } = system;
  const connections = connect(redis.address, pino({ level: 'silent' }));
  const queues = openQueues(connections.state, Date.now);
  try {
    const found = await collect({ client, redis: connections.state, queues });
    const stuck = await client.stuck();
    const audit = await openAudit({ redis: connections.state, dataDir }).verify();
    const swept = await probeSweeper({ client, queues });
    return { found, stuck, swept, audit, places: await probePlaces(system, connections.state) };
  } finally {
    await queues.close();
    await connections.close();
  }
}
