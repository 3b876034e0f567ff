import type { RunDetail } from '@holdpoint/contract/wire';
import { createContext, useContext } from 'react';
import type { Topic } from '../../live/messages.ts';

/** What each part of the page gets. */
export interface ShownRun {
  run: RunDetail;
}

/** The run's stream: all parts of the page share it. */
export const FollowedRun = createContext<Topic | undefined>(undefined);
export const useFollowedRun = (): Topic | undefined => useContext(FollowedRun);

export const runPath = (id: string, rest = ''): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;
