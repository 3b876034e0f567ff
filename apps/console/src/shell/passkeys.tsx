import type { Passkey } from '@holdpoint/contract/wire';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { addPasskey, passkeysKey, revokePasskey, usePasskeys } from '../api/passkeys.ts';
import { Button } from '../parts/button.tsx';
import { ProblemNote, Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { whyNoPasskeys } from '../platform/passkey.ts';
import { useMe } from '../session/session.tsx';

/** The passkeys of the person: with one of them they prove the decisions that a policy names. */
export function Passkeys() {
  const id = useId();
  const { kind } = useMe();
  const { data = [], error } = usePasskeys();
  const [isAdding, setAdding] = useState(false);
  if (kind !== 'person') return null;
  return (
    <section className="stack" aria-labelledby={id}>
      <h3 id={id} className="label">
        Passkeys
      </h3>
      {data.length > 0 && (
        <ul className="names">
          {data.map((passkey) => (
            <OnePasskey key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {error !== null && <ProblemNote error={error} />}
      {isAdding ? (
        <AddForm hasOne={data.some(isForThisPage)} onClose={() => setAdding(false)} />
      ) : (
        <div>
          <Button slim whyNot={whyNoPasskeys()} onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        </div>
      )}
    </section>
  );
}

const isForThisPage = ({ rp_id }: Passkey): boolean => `.${location.hostname}`.endsWith(`.${rp_id}`);

function OnePasskey({ passkey: { id, name, rp_id, last_used_at } }: { passkey: Passkey }) {
  const queries = useQueryClient();
  const [isSure, setSure] = useState(false);
  const revoke = useMutation({
    mutationFn: () => revokePasskey(id),
    onSettled: () => queries.invalidateQueries({ queryKey: passkeysKey }),
  });
  return (
    <li className="row">
      <span>
        <Text>{name}</Text>{' '}
        <span className="muted">
          for <Text>{rp_id}</Text>, {last_used_at === null ? 'not used yet' : <Ago at={last_used_at} />}
        </span>
      </span>
      <Button
        slim
        kind="danger"
        whyNot={revoke.isPending ? 'Being revoked' : undefined}
        onClick={() => (isSure ? revoke.mutate() : setSure(true))}
      >
        {isSure ? 'Really revoke' : 'Revoke'}
      </Button>
      {revoke.error !== null && <ProblemNote error={revoke.error} />}
    </li>
  );
}

/** A code of the operator permits the first one; later ones are permitted by a passkey that is there. */
function AddForm({ hasOne, onClose }: { hasOne: boolean; onClose: () => void }) {
  const ids = { name: useId(), permit: useId() };
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [permit, setPermit] = useState('');
  const add = useMutation({
    mutationFn: addPasskey,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: passkeysKey });
      onClose();
    },
  });
  const missing = name.trim() === '' ? 'Name the device first' : undefined;
  const whyNot = missing ?? (permit.trim() === '' && !hasOne ? 'Type the code of the operator first' : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (whyNot === undefined && !add.isPending) add.mutate({ name: name.trim(), permit: permit.trim() });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="field">
        <label htmlFor={ids.name}>Name of the device</label>
        <input id={ids.name} value={name} maxLength={100} onChange={({ target }) => setName(target.value)} />
      </div>
      <div className="field">
        <label htmlFor={ids.permit}>Code of the operator</label>
        <input
          id={ids.permit}
          value={permit}
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setPermit(target.value)}
        />
        <p className="hint">
          {hasOne
            ? 'Not needed with a passkey at hand: it is asked first.'
            : 'From holdpoint passkeys permit. It works once.'}
        </p>
      </div>
      {add.error !== null && <ProblemNote error={add.error} />}
      <div className="row">
        <Button slim onClick={onClose}>
          Back
        </Button>
        <Button slim kind="main" type="submit" whyNot={add.isPending ? 'Your passkey is asked for' : whyNot}>
          {add.isPending ? 'Waiting for the passkey …' : 'Add'}
        </Button>
      </div>
    </form>
  );
}
