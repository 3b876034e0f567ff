import { useRunDetail } from '../../api/runs.ts';
import { useWhyNot } from '../../session/session.tsx';
import { useDrafts } from './drafts.ts';
import { asWritten, toComments, written } from './to-comments.ts';
import { usePlaces } from './use-places.ts';

/** The drafts of a run as comments on its files as they are now, to be sent outside of a diff. */
export function useRunComments(runId: string) {
  const drafts = useDrafts(runId);
  const mayRead = useWhyNot('runs:read') === undefined;
  const { data: run } = useRunDetail(runId, mayRead);
  const [from, to] = [run?.workspace.base ?? '', run?.workspace.snapshot ?? ''];
  const isKnown = from !== '' && to !== '';
  const placed = usePlaces({ run_id: runId, from, to }, isKnown ? drafts.all : none);
  const ready = drafts.all.filter(({ text }) => text.trim() !== '');
  return {
    ids: ready.map(({ id }) => id),
    comments: isKnown ? toComments(written(placed), { from, to }) : asWritten(ready),
    remove: drafts.remove,
  };
}

const none = [] as const;
