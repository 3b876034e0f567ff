import type { CreateKey as Body, IssuedKey, Key } from '@holdpoint/contract/wire';
import { useId, useState } from 'react';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Choices } from '../../parts/choices.tsx';
import { useMe } from '../../session/session.tsx';
import { useRereadKeys } from './use-keys.ts';

const kinds: readonly (readonly [Key['kind'], string])[] = [
  ['person', 'A person'],
  ['service', 'A service'],
  ['agent', 'An agent'],
];

/** A key gets scopes that its maker holds; an agent never decides. The API refuses everything else in its own words. */
export function CreateKey({ onIssued, onClose }: { onIssued: (key: IssuedKey) => void; onClose: () => void }) {
  const id = useId();
  const { scopes } = useMe();
  const reread = useRereadKeys();
  const [kind, setKind] = useState<Key['kind']>('person');
  const create = (given: FormData) =>
    ask<IssuedKey>({ method: 'POST', path: '/v1/keys', body: bodyOf(kind, given) }).finally(reread);
  return (
    <AskDialog title="New key" word="Create the key" onSend={create} onDone={onIssued} onClose={onClose}>
      <Choices label="Who holds it" value={kind} options={kinds} onChoose={setKind} />
      <div className="field">
        <label htmlFor={`${id}-name`}>Name</label>
        <input id={`${id}-name`} name="name" required autoComplete="off" spellCheck={false} />
        <p className="hint">Decisions and runs carry it.</p>
      </div>
      <fieldset className="stack tight">
        <legend className="label">Scopes</legend>
        <div className="scopes">
          {scopes.map((scope) => (
            <label key={scope} className="check">
              <input type="checkbox" name="scope" value={scope} disabled={isNeverOf(kind, scope)} />
              <code>{scope}</code>
            </label>
          ))}
        </div>
        <p className="muted small">Yours, and no others: a key gives what it has itself.</p>
      </fieldset>
      <div className="field">
        <label htmlFor={`${id}-days`}>Expires after days</label>
        <input id={`${id}-days`} name="days" type="number" min="1" max="36500" autoComplete="off" />
        <p className="hint">Empty: never</p>
      </div>
    </AskDialog>
  );
}

const neverOfAgents = ['approvals:decide', 'policies:write', 'mcp:read', 'mcp:write'];
const isNeverOf = (kind: Key['kind'], scope: string): boolean => kind === 'agent' && neverOfAgents.includes(scope);

function bodyOf(kind: Key['kind'], given: FormData): Body {
  const days = Number(given.get('days'));
  const expires_at = days > 0 ? new Date(Date.now() + days * 86_400_000).toISOString() : undefined;
  return { kind, name: String(given.get('name')).trim(), scopes: given.getAll('scope').map(String), expires_at };
}
