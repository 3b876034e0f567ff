import { useNow } from '../parts/clock.ts';
import { spanText } from '../parts/span-text.ts';
import { useLiveState } from './live.ts';

/** Whether what the page shows is the state of now. Read out only when it changes. */
export function LiveState() {
  const state = useLiveState();
  const now = useNow();
  if (state.is === 'live') return <span className="live on">Live</span>;
  if (state.is === 'behind') return <span className="live behind">Behind</span>;
  return (
    <span className="live off" title="What was read stays, and is old. The page connects again by itself.">
      Offline for {spanText(Math.max(1000, now - state.since))}
    </span>
  );
}
