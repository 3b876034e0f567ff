import type { CreateKey as Body, IssuedKey, Key, Page } from '@holdpoint/contract/wire';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useMe, useWhyNot } from '../../session/session.tsx';
import { KeyLine } from './key-line.tsx';
import { YourKey } from './your-key.tsx';

const queryKey = ['keys'];

/** The keys of the caller's tenant, the newest first. */
export const useKeyList = () =>
  useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      ask<Page<Key>>({ path: '/v1/keys', query: { limit: 200, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

/** The list is read again after a request, whatever its answer: a request without an answer may have made a key. */
export function useRereadKeys(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey });
}

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

type Open = { is: 'create' } | { is: 'rotate' | 'revoke'; of: Key } | { is: 'issued'; key: IssuedKey };

/** Who may call the API, and how far. */
export function KeysPage() {
  useTitle('Keys');
  const whyNot = useWhyNot('keys:admin');
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const issued = (key: IssuedKey) => setOpen({ is: 'issued', key });
  return (
    <div className="page">
      <div className="page-head">
        <h1>Keys</h1>
        <Button kind="main" icon="plus" whyNot={whyNot} onClick={() => setOpen({ is: 'create' })}>
          New key
        </Button>
      </div>
      <YourKey />
      <Needs scope="keys:admin" to="to see and manage the keys of your tenant">
        <KeyList onOpen={setOpen} />
      </Needs>
      {open?.is === 'create' && <CreateKey onIssued={issued} onClose={close} />}
      {open?.is === 'rotate' && <RotateKey of={open.of} onIssued={issued} onClose={close} />}
      {open?.is === 'revoke' && <RevokeKey of={open.of} onClose={close} />}
      {open?.is === 'issued' && <Issued issued={open.key} onClose={close} />}
    </div>
  );
}

function KeyList({ onOpen }: { onOpen: (open: Open) => void }) {
  const list = useKeyList();
  const keys = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section className="stack" aria-label="Keys of the tenant">
      {list.error && <ProblemNote error={list.error} />}
      {list.isPending && <Loading of="the keys" />}
      {keys.length > 0 && (
        <ul className="card rows">
          {keys.map((each) => (
            <KeyLine
              key={each.id}
              of={each}
              onRotate={() => onOpen({ is: 'rotate', of: each })}
              onRevoke={() => onOpen({ is: 'revoke', of: each })}
            />
          ))}
        </ul>
      )}
      {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>More keys</Button>}
    </section>
  );
}

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

/** The text of a key, this once: it is in this dialog alone, and gone with it. Escape does not close it by a slip. */
export function Issued({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(issued.key).then(() => setCopied(true));
  return (
    <Dialog
      title={
        <>
          The text of <Text>{issued.name}</Text>
        </>
      }
      mayClose={false}
      onClose={onClose}
    >
      <Note tone="warn" title="It is shown this once">
        Nothing stores it. Keep it where its holder keeps secrets; if it is lost, rotate the key.
      </Note>
      <pre className="text-block issued">{issued.key}</pre>
      <div className="dialog-foot">
        {'clipboard' in navigator && (
          <Button icon="copy" onClick={() => void copy().catch(() => setCopied(false))}>
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
        )}
        <Button kind="main" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}
