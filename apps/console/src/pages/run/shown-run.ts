import type { RunDetail } from '@holdpoint/contract/wire';
import { createContext, useContext } from 'react';

/** What each part of the page gets. */
export interface ShownRun {
  run: RunDetail;
}

/** The path of the run's stream: all parts of the page share it. */
export const FollowedRun = createContext<string | undefined>(undefined);
export const useFollowedRun = (): string | undefined => useContext(FollowedRun);

export const runPath = (id: string, rest = ''): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;
