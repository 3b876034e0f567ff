import { spanText, useNow } from '../parts/time.tsx';
import { useLiveState } from './live.ts';

/** The word *live*, *behind* or *offline since* about the page. A screen reader says only changes of the word. */
export function LiveState() {
  const state = useLiveState();
  const now = useNow();
  if (state.is === 'live') return <span className="live on">Live</span>;
  if (state.is === 'behind') return <span className="live behind">Behind</span>;
  if (state.is === 'refused') {
    return (
      <span
        className="live behind"
        title="Your key has not the scope runs:read. The inbox is read again every few seconds."
      >
        Not live
      </span>
    );
  }
  return (
    <span className="live off" title="What was read stays, and is old. The page connects again by itself.">
      Offline for {spanText(Math.max(1000, now - state.since))}
    </span>
  );
}
