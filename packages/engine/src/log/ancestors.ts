import type { Redis } from 'ioredis';
import type { RunState } from '../domain/index.ts';
import { readRun } from './read-state.ts';

/** The runs above a run, the nearest first. */
export async function* ancestorsOf(redis: Redis, run: RunState): AsyncGenerator<RunState> {
  for (let id = run.parent?.run_id; id !== undefined; ) {
    const above = await readRun(redis, id);
    if (!above) return;
    yield above;
    id = above.parent?.run_id;
  }
}
