import type { Occurrence } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

type Versioned = Options & { ifVersion?: number | undefined };

export const scheduleRequests = ({ ask }: Transport) => ({
  /** By name. */
  listSchedules: async (options: ListOptions = {}): Promise<wire.Schedule[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: '/v1/schedules', signal }, wire.scheduleListSchema)).body, options);
  },

  async getSchedule(name: string, { signal }: Options = {}): Promise<wire.Schedule> {
    return (await ask({ path: at('schedules', name), signal }, wire.scheduleSchema)).body;
  },

  /** `created` is false when there was a schedule of this name. @param ifVersion the version to replace; 0: none */
  async putSchedule(
    name: string,
    body: wire.PutSchedule,
    { ifVersion, signal }: Versioned = {},
  ): Promise<{ schedule: wire.Schedule; created: boolean }> {
    const query = { if_version: ifVersion };
    const answer = await ask({ method: 'PUT', path: at('schedules', name), query, body, signal }, wire.scheduleSchema);
    return { schedule: answer.body, created: answer.status === 201 };
  },

  /** Its runs continue. */
  async deleteSchedule(name: string, { ifVersion, signal }: Versioned = {}): Promise<wire.Schedule> {
    const query = { if_version: ifVersion };
    return (await ask({ method: 'DELETE', path: at('schedules', name), query, signal }, wire.scheduleSchema)).body;
  },

  async pauseSchedule(name: string, reason?: string, { signal }: Options = {}): Promise<wire.Schedule> {
    const path = at('schedules', name, '/pause');
    return (await ask({ method: 'POST', path, body: { reason }, signal }, wire.scheduleSchema)).body;
  },

  async resumeSchedule(name: string, { signal }: Options = {}): Promise<wire.Schedule> {
    return (await ask({ method: 'POST', path: at('schedules', name, '/resume'), signal }, wire.scheduleSchema)).body;
  },

  /** Submits a run now. */
  async triggerSchedule(name: string, { signal }: Options = {}): Promise<wire.Schedule> {
    return (await ask({ method: 'POST', path: at('schedules', name, '/trigger'), signal }, wire.scheduleSchema)).body;
  },

  /** Submits runs for past occurrences. */
  async backfillSchedule(name: string, body: wire.Backfill, { signal }: Options = {}): Promise<wire.Schedule> {
    const path = at('schedules', name, '/backfill');
    return (await ask({ method: 'POST', path, body, signal }, wire.scheduleSchema)).body;
  },

  /** What became of the last occurrences, the newest first. */
  async listOccurrences(
    name: string,
    { limit }: { limit?: number | undefined } = {},
    { signal }: Options = {},
  ): Promise<Occurrence[]> {
    const path = at('schedules', name, '/occurrences');
    return (await ask({ path, query: { limit }, signal }, wire.occurrenceListSchema)).body.data;
  },
});
