import type { RunDetail } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { runs, useRun } from './entities.ts';
import { ask } from './request.ts';

/** A run with its request, kept at the newest state known from the stream. */
export function useRunDetail(id: string) {
  const query = useQuery({
    queryKey: ['run', id],
    queryFn: async ({ signal }) => {
      const run = await ask<RunDetail>({ path: `/v1/runs/${encodeURIComponent(id)}`, signal });
      runs.put([run]);
      return run;
    },
  });
  const newest = useRun(id);
  const data = query.data && newest && newest.seq > query.data.seq ? { ...query.data, ...newest } : query.data;
  return { ...query, data };
}
