import type { Key } from '@holdpoint/contract/wire';
import { Button } from '../../parts/button.tsx';
import { Badge } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago, Until, useNow } from '../../parts/time.tsx';
import { useMe } from '../../session/session.tsx';

interface Props {
  of: Key;
  onRotate: () => void;
  onRevoke: () => void;
}

export function KeyLine({ of: key, onRotate, onRevoke }: Props) {
  const { key_id } = useMe();
  const now = useNow(60_000);
  const isOver = key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= now);
  return (
    <li className="row-line">
      <div className="stack tight">
        <span className="row">
          <strong>
            <Text>{key.name}</Text>
          </strong>
          <KeyState of={key} now={now} />
          {key.id === key_id && <Badge tone="info">yours</Badge>}
          <span className="muted small">
            {key.kind}
            {key.person !== key.name && (
              <>
                {' '}
                of <Text>{key.person}</Text>
              </>
            )}
          </span>
        </span>
        <span className="muted small">{key.scopes.join(', ')}</span>
        <span className="muted small">
          Made <Ago at={key.created_at} /> by <Text>{key.created_by}</Text> ·{' '}
          {key.last_used_at === null ? (
            'never used'
          ) : (
            <>
              used <Ago at={key.last_used_at} />
            </>
          )}
          {key.expires_at !== null && !isOver && (
            <>
              {' '}
              · expires <Until at={key.expires_at} />
            </>
          )}{' '}
          · <code>{key.id}</code>
        </span>
      </div>
      {!isOver && (
        <span className="row">
          {key.sign_in === undefined && (
            <Button slim onClick={onRotate} data-row="">
              Rotate
              <NameOf of={key} />
            </Button>
          )}
          <Button slim kind="danger" onClick={onRevoke}>
            Revoke
            <NameOf of={key} />
          </Button>
        </span>
      )}
    </li>
  );
}

const NameOf = ({ of: { name } }: { of: Key }) => (
  <span className="hidden-text">
    {' '}
    <Text>{name}</Text>
  </span>
);

function KeyState({ of: { revoked_at, expires_at, previous_until }, now }: { of: Key; now: number }) {
  if (revoked_at !== null) return <Badge tone="bad">revoked</Badge>;
  if (expires_at !== null && Date.parse(expires_at) <= now) return <Badge>expired</Badge>;
  if (previous_until !== null && Date.parse(previous_until) > now)
    return <Badge tone="warn">old text valid, too</Badge>;
  return <Badge tone="good">in force</Badge>;
}
