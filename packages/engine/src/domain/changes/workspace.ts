import { absentContent } from '@holdpoint/contract';
import { heads, runField, stepField } from '../model.ts';
import type { PublicationEvent } from './publication.ts';
import { type ChangesOf, type EventsOf, listSnapshot, noChange, requireRestore } from './state-changes.ts';

/** The changes of the tree. For changes of the publication, see `publication.ts`. */
export const workspaceChanges: ChangesOf<Exclude<EventsOf<'workspace'>, PublicationEvent>> = {
  'workspace.progress': noChange,
  'workspace.materialised': (state, { data: { snapshot, base = snapshot, prepare, ...made } }) => {
    state.set(runField.snapshot, snapshot);
    listSnapshot(state, snapshot);
    state.set(runField.base, base);
    state.set(runField.lease, 1);
    state.clear(runField.head);
    if (prepare) state.set(runField.prepare, 'due');
    const absent = absentContent(made);
    if (absent !== undefined) state.set(runField.absent, absent);
  },
  'workspace.preparing': (state, { data }) => {
    state.set(runField.preparing, heads.prepare(data.number));
    state.set(runField.head, heads.prepare(data.number));
  },
  'workspace.prepared': (state, { data: { number, of, snapshot } }) => {
    state.set(runField.prepared, number);
    state.clear(runField.preparing);
    state.set(runField.snapshot, snapshot);
    listSnapshot(state, snapshot);
    if (number < of) return;
    // The change set counts from here, so files made by the commands are not part of the change set.
    state.set(runField.base, snapshot);
    state.set(runField.prepare, 'done');
  },
  'workspace.prepare_failed': (state, { data }) => {
    state.clear(runField.preparing);
    if (data.restore) state.set(runField.restore, 'due');
  },
  'workspace.leased': (state, { data }) => {
    state.set(runField.lease, data.epoch);
    state.clear(runField.head);
    state.set(runField.uncaptured, 0);
    state.clear(runField.merging);
  },
  'workspace.held': (state, { data }) => {
    state.set(runField.writer, data.task_id);
    if (!data.merges) return;
    state.set(runField.merging, data.task_id);
    state.set(runField.head, heads.task(data.task_id));
    state.increase(runField.uncaptured);
  },
  'workspace.captured': (state, { data }) => {
    state.set(runField.snapshot, data.snapshot);
    listSnapshot(state, data.snapshot);
    state.clear(runField.writer);
    state.clear(runField.merging);
    state.increase(runField.uncaptured, -1);
  },
  'workspace.drifted': (state, { data }) => {
    state.set(runField.snapshot, data.snapshot);
    listSnapshot(state, data.snapshot);
    state.clear(runField.writer);
  },
  'workspace.snapshotted': (state, { step_id, data }) => {
    state.set(runField.snapshot, data.snapshot);
    listSnapshot(state, data.snapshot);
    state.set(stepField.snapshot(step_id), data.snapshot);
    state.clear(runField.writer);
  },
  'workspace.validating': (state, { data }) => {
    state.set(runField.validating, data.snapshot);
    state.set(runField.head, heads.validators(data.snapshot));
  },
  'workspace.distrusted': requireRestore,
  'workspace.restored': (state) => state.clear(runField.restore),
};
