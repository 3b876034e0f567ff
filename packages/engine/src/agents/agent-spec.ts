import type { AgentSpec } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { TaskState } from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';

/** The spec of a sub-agent's task. */
export async function agentSpecOf({ blobs }: Pick<EngineDeps, 'blobs'>, task: TaskState): Promise<AgentSpec> {
  const spec = await fromPayload(blobs, task.about.spec);
  if (!('goal' in spec)) throw new TypeError(`the task ${task.id} has no goal`);
  return spec;
}
