import type { PublicationStatus } from '@holdpoint/contract';
import { runField } from '../model.ts';
import type { ChangesOf, EventsOf, StateChanges } from './state-changes.ts';

export type PublicationEvent =
  | Extract<EventsOf<'workspace'>, `workspace.publish${string}` | `workspace.discard${string}`>
  | 'workspace.validated'
  | 'workspace.conflicted';

export const publicationChanges: ChangesOf<PublicationEvent> = {
  'workspace.publish_requested': (state, { data: { by: _, ...request } }) => {
    state.set(runField.publication, 'requested');
    state.set(runField.publish_request, request);
    state.clear(runField.publish_release);
    state.clear(runField.validated);
    state.clear(runField.validating);
    state.clear(runField.publication_detail);
  },
  'workspace.validated': (state, { data }) => {
    state.set(runField.validated, data);
    state.clear(runField.validating);
  },
  'workspace.publish_released': (state, { data }) => {
    state.set(runField.publication, 'requested');
    state.set(runField.publish_release, data);
    state.clear(runField.publication_detail);
  },
  'workspace.publish_rejected': (state, { data: { reason } }) => end(state, 'rejected', { reason }),
  'workspace.publish_failed': (state, { data: { reason } }) => end(state, 'failed', { reason }),
  'workspace.published': (state, { data: { published } }) => end(state, 'published', { published }),
  'workspace.conflicted': (state, { data: { conflicts } }) => end(state, 'conflicted', { conflicts }),
  'workspace.discard_requested': (state) => state.set(runField.publication, 'discarding'),
  'workspace.discarded': (state) => {
    state.set(runField.publication, 'discarded');
    state.clear(runField.restore);
  },
};

type Detail = Parameters<typeof runField.publication_detail.encode>[0];

function end(state: StateChanges, status: PublicationStatus, detail: Detail): void {
  state.set(runField.publication, status);
  state.set(runField.publication_detail, detail);
}
