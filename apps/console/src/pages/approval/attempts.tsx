import type { Approval, Attempt } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { wholeTime } from '../../parts/time.tsx';

/** All that is known of a call whose worker died: whether it took effect, only a person can find out. */
export function Attempts({ approval: { step_id } }: { approval: Approval }) {
  const { data } = useQuery({
    queryKey: ['step', step_id, 'attempts'],
    queryFn: ({ signal }) =>
      ask<{ data: Attempt[] }>({ path: `/v1/steps/${encodeURIComponent(step_id ?? '')}/attempts`, signal }),
    enabled: step_id !== null,
  });
  return (
    <Note tone="bad" title="The worker was lost while this call ran: it may have taken effect, or not">
      <ul>
        {data?.data.map(({ number, worker, started_at, ended_at, end, reason }) => (
          <li key={number}>
            Attempt {number} on <Text>{worker}</Text>: began {wholeTime(started_at)}
            {ended_at === null ? ', has no end' : `, ended ${wholeTime(ended_at)} (${end})`}
            {reason !== null && (
              <>
                {' '}
                <Text>{reason.message}</Text>
              </>
            )}
          </li>
        ))}
      </ul>
      <p>Look at the place that the call changes. Then say what happened, or let it run again.</p>
    </Note>
  );
}
