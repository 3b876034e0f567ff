import type { Page } from '../source.ts';
import { approvals } from './approvals.ts';
import { health } from './health.ts';
import { models } from './models.ts';
import { overview } from './overview.ts';
import { queues } from './queues.ts';
import { run } from './run.ts';
import { steps } from './steps.ts';

export const pages: readonly Page[] = [overview, run, steps, queues, approvals, models, health];
