import type { Occurrence } from '@holdpoint/contract';
import type { Schedule } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';

const queryKey = ['schedules'];
const at = (name: string, rest = ''): string => `/v1/schedules/${encodeURIComponent(name)}${rest}`;
/** No event reports a change of a schedule, so the pages ask. */
const rereadMs = 10_000;

export const useScheduleList = () =>
  useQuery({
    queryKey,
    queryFn: ({ signal }) => ask<{ data: Schedule[] }>({ path: '/v1/schedules', signal }),
    refetchInterval: rereadMs,
  });

export const useSchedule = (name: string) =>
  useQuery({
    queryKey: [...queryKey, name],
    queryFn: ({ signal }) => ask<Schedule>({ path: at(name), signal }),
    refetchInterval: rereadMs,
  });

export const useOccurrences = (name: string) =>
  useQuery({
    queryKey: [...queryKey, name, 'occurrences'],
    queryFn: ({ signal }) => ask<{ data: Occurrence[] }>({ path: at(name, '/occurrences'), signal }),
    refetchInterval: rereadMs,
  });

/** Sends a request, and reads the schedules again, whatever the answer. */
export function useSteer(name: string): (what: 'pause' | 'resume' | 'trigger') => Promise<Schedule> {
  const queries = useQueryClient();
  return (what) =>
    ask<Schedule>({ method: 'POST', path: at(name, `/${what}`), ...(what === 'pause' && { body: {} }) }).finally(() =>
      queries.invalidateQueries({ queryKey }),
    );
}
