import { QueryClient } from '@tanstack/react-query';
import { ApiProblem, NoAnswer } from './request.ts';

/**
 * The cache of the page. The stream says what changed, so nothing is read again for its age alone; a refusal is never asked again, an absent
 * answer is, until the API is back.
 */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < 3 && (error instanceof NoAnswer || isLater(error)),
        retryDelay: (failures) => Math.min(500 * 2 ** failures, 8000),
      },
      // A write waits for a person: nothing is sent a second time behind their back.
      mutations: { networkMode: 'always', retry: false },
    },
  });

const isLater = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 429 || error.status === 503);
