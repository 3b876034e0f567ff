import type { Session } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Badge } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/text.tsx';
import { Ago, Until } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';

const key = ['sessions'];

/** The browsers that are logged in with the key of the caller. */
export function SessionsPage() {
  useTitle('Sessions');
  const queries = useQueryClient();
  const list = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask<{ data: Session[] }>({ path: '/v1/sessions', signal }),
  });
  const [ending, setEnding] = useState<Session | 'others'>();
  const sessions = list.data?.data ?? [];
  const others = sessions.filter(({ current }) => !current).length;
  const end = async () => {
    const path = ending === 'others' ? '/v1/sessions' : `/v1/sessions/${ending?.id}`;
    await ask({ method: 'DELETE', path }).finally(() => queries.invalidateQueries({ queryKey: key }));
  };
  return (
    <div className="page narrow">
      <div className="page-head">
        <h1>Sessions</h1>
        <Button
          kind="danger"
          whyNot={others === 0 ? 'No other browser is logged in' : undefined}
          onClick={() => setEnding('others')}
        >
          End all others
        </Button>
      </div>
      <p className="muted">
        Browsers that are logged in with your key. One that you do not know may be of another person: end it, and rotate
        your key.
      </p>
      {list.error && <ProblemNote error={list.error} />}
      {list.isPending && <Loading of="the sessions" />}
      {sessions.length > 0 && (
        <ul className="card rows" aria-label="Sessions">
          {sessions.map((session) => (
            <SessionLine key={session.id} session={session} onEnd={() => setEnding(session)} />
          ))}
        </ul>
      )}
      {ending !== undefined && (
        <AskDialog
          title={ending === 'others' ? `End ${others} ${others === 1 ? 'session' : 'sessions'}` : 'End this session'}
          word={ending === 'others' ? 'End them' : 'End it'}
          danger
          onSend={end}
          onClose={() => setEnding(undefined)}
        >
          <p>Its next request is refused and its page asks for a key. What was typed there stays in that page.</p>
        </AskDialog>
      )}
    </div>
  );
}

function SessionLine({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const { id, created_at, last_used_at, expires_at, current, signed_in } = session;
  return (
    <li className="row-line">
      <div className="stack tight">
        <code className="small">{id.slice(0, 16)}…</code>
        <span className="muted small">
          {signed_in === undefined ? 'Logged in' : signed_in === 'command' ? 'The command signed in' : 'Signed in'}{' '}
          <Ago at={created_at} /> · used <Ago at={last_used_at} /> · ends <Until at={expires_at} />
        </span>
      </div>
      {current ? (
        <Badge tone="info">this browser</Badge>
      ) : (
        <Button slim kind="danger" data-row="" onClick={onEnd}>
          End<span className="hidden-text"> the session {id.slice(0, 16)}</span>
        </Button>
      )}
    </li>
  );
}
