import { usePresence } from '../../api/presence.ts';
import { Badge } from '../../parts/note.tsx';
import { Text } from '../../parts/problem-note.tsx';
import { useMe } from '../../session/session.tsx';

/** Other callers who look at the approval now, so that two do not decide at once without knowing. */
function useViewers(approvalId: string): string[] {
  const { name: me } = useMe();
  const { data } = usePresence();
  const found = data?.data.find(({ approval_id }) => approval_id === approvalId);
  return found?.viewers.flatMap(({ name }) => (name === me ? [] : [name])) ?? [];
}

export function Viewers({ approvalId }: { approvalId: string }) {
  const names = useViewers(approvalId);
  if (names.length === 0) return null;
  return (
    <Badge tone="info" icon="eye">
      <Text most={80}>{names.join(', ')}</Text> {names.length === 1 ? 'looks' : 'look'} at it
    </Badge>
  );
}
