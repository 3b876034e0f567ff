import { type AgentKind, nearestNames, type Problem } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';

type Found = { status: 'found'; kind: AgentKind } | { status: 'refused'; problem: Problem };

const mostNamed = 50;

/** A kind of sub-agent by its name, or the error for the model. */
export async function findKind(
  deps: Pick<WorkerDeps, 'agentKinds' | 'redis' | 'blobs'>,
  run: RunState,
  name: string,
  signal: AbortSignal,
): Promise<Found> {
  const asked = { runId: run.id, base: run.base, spec: await readSpec(deps, run), signal };
  const { kinds = [], listed = [] } = (await deps.agentKinds?.find(asked)) ?? {};
  const kind = kinds.find((one) => one.name === name);
  if (kind !== undefined) return { status: 'found', kind };
  const names = kinds.map((one) => one.name);
  const bad = listed.find((one) => one.name === name && one.error !== undefined);
  const message =
    bad === undefined
      ? `There is no kind of sub-agent ${JSON.stringify(name.slice(0, 100))}.`
      : `The document ${bad.file} is no kind of sub-agent: ${bad.error}`;
  const [nearest] = nearestNames(name, names, 1);
  const next =
    nearest === undefined
      ? 'This run has no kinds of sub-agents: leave the kind out.'
      : `The kinds: ${names.slice(0, mostNamed).join(', ')}. Nearest: ${nearest}. Or leave the kind out.`;
  return { status: 'refused', problem: { code: 'ENOAGENT', message, next } };
}
