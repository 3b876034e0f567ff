import { z } from 'zod';
import { runField } from '../fields.ts';
import type { RunState } from '../state.ts';
import { type Condition, runIs, snapshotIs, type Transition } from '../transition.ts';
import type { PublicationStatus } from '../vocabulary.ts';

const publicationIs = (...status: PublicationStatus[]): Condition => ({ field: runField.publication, is: status });

/** Publishing is asked for: recorded first, done by a worker, so that a crash in between is made good. */
export const requestPublish = (run: RunState, request: { message: string; by: string }): Transition => ({
  if: [runIs('succeeded'), publicationIs('none', 'conflicted'), snapshotIs(run.snapshot ?? '')],
  events: [{ type: 'workspace.publish_requested', data: { snapshot: run.snapshot ?? '', ...request } }],
});

export const recordPublished = (run: RunState, published: unknown): Transition => ({
  if: [publicationIs('requested')],
  events: [
    { type: 'workspace.published', data: { snapshot: run.snapshot ?? '', published: z.json().parse(published) } },
  ],
});

export const recordConflict = (run: RunState, conflicts: unknown): Transition => ({
  if: [publicationIs('requested')],
  events: [
    { type: 'workspace.conflicted', data: { snapshot: run.snapshot ?? '', conflicts: z.json().parse(conflicts) } },
  ],
});

export const requestDiscard = (run: RunState, by: string): Transition => ({
  if: [runIs('succeeded', 'failed', 'canceled'), publicationIs('none', 'conflicted', 'published')],
  events: [{ type: 'workspace.discard_requested', data: { by, from: run.publication } }],
});

export const recordDiscarded = (): Transition => ({
  if: [publicationIs('discarding')],
  events: [{ type: 'workspace.discarded', data: {} }],
});
