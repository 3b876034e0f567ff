import type { CreateRun, Run, RunCounts, RunDetail } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { runs, useEntityPages, useRun } from './entities.ts';
import { ask } from './request.ts';

/** Filters of a list of runs, as in the address of the page. */
export interface RunFilter {
  status?: readonly Run['status'][] | undefined;
  title?: string | undefined;
  label?: string | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
}

const at = (id: string, rest = ''): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;

export const runQuery = (id: string) => ({
  queryKey: ['run', id],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<RunDetail> => {
    const run = await ask<RunDetail>({ path: at(id), signal });
    runs.put([run]);
    return run;
  },
});

/** A run with its request, kept at the newest state known from the stream. @param mayRead false: nothing is asked */
export function useRunDetail(id: string, mayRead = true) {
  const query = useQuery({ ...runQuery(id), enabled: mayRead });
  const newest = useRun(id);
  const data = query.data && newest && newest.seq > query.data.seq ? { ...query.data, ...newest } : query.data;
  return { ...query, data };
}

export const useRunList = (filter: RunFilter) =>
  useEntityPages(['runs', 'list', filter], { entities: runs, path: '/v1/runs', query: { ...filter } });

export const useRunCounts = (label: string | undefined) =>
  useQuery({
    queryKey: ['runs', 'counts', label],
    queryFn: ({ signal }) => ask<RunCounts>({ path: '/v1/runs/counts', query: { label }, signal }),
  });

/** Sent again with the same key, it makes one run. */
export async function createRun(body: CreateRun, idempotencyKey: string): Promise<Run> {
  const run = await ask<Run>({ method: 'POST', path: '/v1/runs', body, idempotencyKey });
  runs.put([run]);
  return run;
}

export async function cancelRun(id: string, message: string | undefined): Promise<Run> {
  const run = await ask<Run>({ method: 'POST', path: at(id, '/cancel'), body: { message } });
  runs.put([run]);
  return run;
}
