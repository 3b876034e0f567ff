export { pauseIfFailing, type RunEnd } from './advance.ts';
export { lookAtSchedule, type Submitted, type Submitting } from './look.ts';
export type { ScheduleState } from './store.ts';
export { openScheduleStore, type ScheduleStore, type StoredSchedule } from './store.ts';
export { openClockwork, ScheduleTimesError } from './times.ts';
