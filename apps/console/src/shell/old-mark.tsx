import { useLiveState } from '../live/live.ts';
import { Note } from '../parts/note.tsx';
import { wholeTime } from '../parts/time.tsx';

/** Says above every page that it may be old, while the API is away. */
export function OldMark() {
  const state = useLiveState();
  if (state.is !== 'offline') return null;
  return (
    <div className="old-mark" role="status">
      <Note tone="warn" title="The server does not answer">
        What stands here is as it was at {wholeTime(new Date(state.since).toISOString())}. Nothing is sent by itself:
        what you decide now has to be sent again.
      </Note>
    </div>
  );
}
