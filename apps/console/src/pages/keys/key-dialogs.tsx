import type { IssuedKey, Key } from '@holdpoint/contract/wire';
import { useId } from 'react';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { useMe } from '../../session/session.tsx';
import { useRereadKeys } from './use-keys.ts';

interface RotateProps {
  of: Key;
  onIssued: (key: IssuedKey) => void;
  onClose: () => void;
}

export function RotateKey({ of: key, onIssued, onClose }: RotateProps) {
  const id = useId();
  const reread = useRereadKeys();
  const isOwn = useMe().key_id === key.id;
  const rotate = (given: FormData) => {
    const body = { grace_s: Math.round(Number(given.get('hours')) * 3600) };
    return ask<IssuedKey>({ method: 'POST', path: `/v1/keys/${key.id}/rotate`, body }).finally(reread);
  };
  return (
    <AskDialog
      title={
        <>
          Rotate <Text>{key.name}</Text>
        </>
      }
      word="Rotate it"
      onSend={rotate}
      onDone={onIssued}
      onClose={onClose}
    >
      <p>The key gets another text, which is shown once. Its name, its scopes and its limits stay.</p>
      {isOwn && (
        <Note tone="warn" title="It is the key of this login">
          This page is logged in until the present text ends. Log in with the new text before.
        </Note>
      )}
      <div className="field">
        <label htmlFor={id}>The present text stays valid for hours</label>
        <input
          id={id}
          name="hours"
          type="number"
          min={isOwn ? 0.1 : 0}
          max="720"
          step="any"
          defaultValue={isOwn ? 1 : 0}
          autoComplete="off"
        />
        <p className="hint">
          {isOwn
            ? 'The new text is shown once, by a page that must be logged in: so it cannot be 0'
            : '0: it ends at once, and with it the sessions that began with it'}
        </p>
      </div>
    </AskDialog>
  );
}

export function RevokeKey({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const reread = useRereadKeys();
  const revoke = () => ask({ method: 'DELETE', path: `/v1/keys/${key.id}` }).finally(reread);
  return (
    <AskDialog
      title={
        <>
          Revoke <Text>{key.name}</Text>
        </>
      }
      word="Revoke it"
      danger
      onSend={revoke}
      onClose={onClose}
    >
      <p>From now on no request with it is accepted, and its streams and sessions end. It cannot be taken back.</p>
      <OwnKey of={key} />
    </AskDialog>
  );
}

function OwnKey({ of: key }: { of: Key }) {
  if (useMe().key_id !== key.id) return null;
  return (
    <Note tone="warn" title="It is the key of this login">
      This page will ask for a key again.
    </Note>
  );
}
