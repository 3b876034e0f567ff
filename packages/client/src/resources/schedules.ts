import type { Occurrence } from '@holdpoint/contract';
import {
  type Backfill,
  occurrenceListSchema,
  type PutSchedule,
  type Schedule,
  scheduleListSchema,
  scheduleSchema,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

type Versioned = Options & { ifVersion?: number | undefined };

export const scheduleRequests = ({ ask }: Transport) => ({
  /** By name. */
  listSchedules: async (options: ListOptions = {}): Promise<Schedule[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: '/v1/schedules', signal }, scheduleListSchema)).body, options);
  },

  async getSchedule(name: string, { signal }: Options = {}): Promise<Schedule> {
    return (await ask({ path: at('schedules', name), signal }, scheduleSchema)).body;
  },

  /** `created` is false when there was a schedule of this name. @param ifVersion the version to replace; 0: none */
  async putSchedule(
    name: string,
    body: PutSchedule,
    { ifVersion, signal }: Versioned = {},
  ): Promise<{ schedule: Schedule; created: boolean }> {
    const query = { if_version: ifVersion };
    const answer = await ask({ method: 'PUT', path: at('schedules', name), query, body, signal }, scheduleSchema);
    return { schedule: answer.body, created: answer.status === 201 };
  },

  /** Its runs continue. */
  async deleteSchedule(name: string, { ifVersion, signal }: Versioned = {}): Promise<Schedule> {
    const query = { if_version: ifVersion };
    return (await ask({ method: 'DELETE', path: at('schedules', name), query, signal }, scheduleSchema)).body;
  },

  async pauseSchedule(name: string, reason?: string, { signal }: Options = {}): Promise<Schedule> {
    const path = at('schedules', name, '/pause');
    return (await ask({ method: 'POST', path, body: { reason }, signal }, scheduleSchema)).body;
  },

  async resumeSchedule(name: string, { signal }: Options = {}): Promise<Schedule> {
    return (await ask({ method: 'POST', path: at('schedules', name, '/resume'), signal }, scheduleSchema)).body;
  },

  /** Submits a run now. */
  async triggerSchedule(name: string, { signal }: Options = {}): Promise<Schedule> {
    return (await ask({ method: 'POST', path: at('schedules', name, '/trigger'), signal }, scheduleSchema)).body;
  },

  /** Submits runs for past occurrences. */
  async backfillSchedule(name: string, body: Backfill, { signal }: Options = {}): Promise<Schedule> {
    const path = at('schedules', name, '/backfill');
    return (await ask({ method: 'POST', path, body, signal }, scheduleSchema)).body;
  },

  /** What became of the last occurrences, the newest first. */
  async listOccurrences(
    name: string,
    { limit }: { limit?: number | undefined } = {},
    { signal }: Options = {},
  ): Promise<Occurrence[]> {
    const path = at('schedules', name, '/occurrences');
    return (await ask({ path, query: { limit }, signal }, occurrenceListSchema)).body.data;
  },
});
