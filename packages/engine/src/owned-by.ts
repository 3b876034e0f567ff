import { isIdOf, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { EngineError } from './domain/index.ts';
import { ownerOf, tenantOf } from './log/index.ts';

const codes = {
  step: 'step_not_found',
  approval: 'approval_not_found',
  task: 'task_not_found',
} as const;

/**
 * Checks that things belong to a tenant. A thing of another tenant is refused exactly like an unknown thing: with the same code and text,
 * and after as many reads.
 */
export function ownedBy(redis: Redis, tenant: Tenant) {
  const isMine = async (runId: string): Promise<boolean> => (await tenantOf(redis, runId)) === tenant;
  return {
    isMine,
    /** @throws EngineError `run_not_found` */
    async run(id: string): Promise<void> {
      if (!(await isMine(id))) throw new EngineError('run_not_found', `there is no run ${id}`);
    },
    /** The run with this step, approval or task. @throws EngineError `step_not_found`, `approval_not_found`, `task_not_found` */
    async part(kind: keyof typeof codes, id: string): Promise<string> {
      const runId = isIdOf(kind, id) ? await ownerOf(redis, id) : null;
      if ((await isMine(runId ?? id)) && runId !== null) return runId;
      throw new EngineError(codes[kind], `there is no ${kind} ${id}`);
    },
  };
}
