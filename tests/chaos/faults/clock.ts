import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const hour = 3_600_000;

/** The wall clock of a worker is an hour ahead or behind for some seconds. The clock of the machine does not change. */
export const jumpClock: Fault = async ({ workers, clockFile, random }) => {
  const place = random.integer(0, workers.length - 1);
  writeFileSync(clockFile(place), String(random.chance(0.5) ? hour : -hour));
  await pause(random.integer(2000, 5000));
  writeFileSync(clockFile(place), '0');
};
