import type { Me, SignInOptions } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useId, useState } from 'react';
import { ask, isProblem, onSessionEnd } from '../api/request.ts';
import { tryNow } from '../live/live.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { ProblemNote, Text } from '../parts/text.tsx';
import { useTitle } from '../parts/use-title.ts';

/** The page of a caller without a session, at whatever address they came to. */
export function LoginForm({ onDone, problem }: { onDone: () => void; problem?: unknown }) {
  useTitle('Log in');
  return (
    <main className="login">
      <div className="card login-card">
        <img src="/icons/icon.svg" alt="" />
        <div className="stack">
          <h1>Log in to Holdpoint</h1>
          <p className="muted">
            On the machine where Holdpoint runs, <code>holdpoint open</code> opens this page without a key.
          </p>
        </div>
        {problem !== undefined && <ProblemNote error={problem} />}
        <SignIn to={location.pathname} />
        <KeyForm onDone={onDone} />
      </div>
    </main>
  );
}

/** The way to the identity provider, where the operator names one. What the provider said comes back as a code in the address. */
function SignIn({ to, keepsPage = false }: { to: string; keepsPage?: boolean }) {
  const [refused] = useState(() => new URLSearchParams(location.hash.slice(1)).get('refused'));
  const options = useQuery({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => ask<SignInOptions>({ path: '/v1/sign-in', signal }),
    staleTime: Infinity,
  });
  return (
    <>
      {refused !== null && <p role="alert">{reasons[refused] ?? 'The sign-in failed. Begin again.'}</p>}
      {options.data?.available === true && (
        <a
          className="button main"
          {...(keepsPage && { target: '_blank', rel: 'noopener' })}
          href={`/v1/sign-in/start?${new URLSearchParams({ to: to === '/login' ? '/' : to })}`}
        >
          Sign in with <Text>{options.data.label ?? 'your company account'}</Text>
        </a>
      )}
    </>
  );
}

/** Codes of the API, in the address that it leads back to. No text of the address is shown. */
const reasons: Readonly<Record<string, string>> = {
  sign_in_refused: 'Your account has no access here. Ask the operator to look at its groups.',
  sign_in_unavailable: 'The identity provider does not answer. Try again later, or log in with a key.',
  key_name_taken:
    'Another key has the name of your account. Ask the operator to revoke it, or to give one of them another name.',
};

/** The key goes to the API once and stays in no storage: the cookie of the answer is out of the reach of scripts. */
function KeyForm({ onDone }: { onDone: () => void }) {
  const id = useId();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const logIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    setSending(true);
    setError(undefined);
    try {
      await ask({ method: 'POST', path: '/v1/session', body: { key } });
      onDone();
    } catch (refused) {
      setError(refused);
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="stack" onSubmit={logIn}>
      <div className="field">
        <label htmlFor={id}>Key</label>
        <input id={id} name="key" type="password" autoComplete="current-password" required spellCheck={false} />
        <p className="hint">
          <code>holdpoint keys create</code> makes one for each person.
        </p>
      </div>
      {error !== undefined && <ProblemNote error={error} />}
      <Button kind="main" type="submit" whyNot={isSending ? 'Being checked' : undefined}>
        Log in
      </Button>
    </form>
  );
}

export type Scope = Me['scopes'][number];

const Caller = createContext<Me | undefined>(undefined);

/**
 * Shows its children to a caller who is logged in. When the session ends later, the page and what was typed in it stay, below a form to log
 * in again.
 */
export function Session({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const me = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => ask<Me>({ path: '/v1/me', signal }),
    staleTime: Infinity,
  });
  const [hasEnded, setEnded] = useState(false);
  useEffect(() => onSessionEnd(() => setEnded(true)), []);
  if (me.data !== undefined) {
    return (
      <Caller value={me.data}>
        {children}
        {hasEnded && <LoginAgain caller={me.data} onDone={() => resume(() => setEnded(false))} />}
      </Caller>
    );
  }
  if (isProblem(me.error) && me.error.status === 401) return <LoginForm onDone={begin} />;
  if (me.error) {
    return (
      <main className="page narrow">
        <ProblemNote error={me.error}>
          <Button onClick={() => void me.refetch()}>Try again</Button>
        </ProblemNote>
      </main>
    );
  }
  return null;

  /** The refusal that brought the login form was the end of no session. */
  function begin(): void {
    setEnded(false);
    void me.refetch();
  }

  function resume(done: () => void): void {
    done();
    void queries.invalidateQueries();
    tryNow();
  }
}

export function useMe(): Me {
  const me = useContext(Caller);
  if (me === undefined) throw new Error('useMe belongs below Session');
  return me;
}

/** Why the caller cannot do what needs the scope; undefined: they can. */
export function useWhyNot(scope: Scope): string | undefined {
  const { scopes } = useMe();
  return scopes.includes(scope) ? undefined : `Your key has not the scope ${scope}`;
}

/** What needs a scope, or the name of the scope that the caller's key lacks. */
export function Needs({ scope, to, children }: { scope: Scope; to: string; children: ReactNode }) {
  const whyNot = useWhyNot(scope);
  if (whyNot === undefined) return children;
  return (
    <Note tone="warn" title={whyNot}>
      It is needed {to}. Ask a caller with keys:admin for a key that has it.
    </Note>
  );
}

/** Names the parts of a page left out for a caller without a scope. */
export const NotShown = ({ whyNot, children }: { whyNot: string; children: ReactNode }) => (
  <p className="muted small">
    {whyNot}. Not shown: {children}.
  </p>
);

/** Over the page of a session that ended. Another caller gets a fresh page: what was read belongs to the one before. */
function LoginAgain({ caller, onDone }: { caller: Me; onDone: () => void }) {
  const check = async () => {
    const me = await ask<Me>({ path: '/v1/me' });
    if (me.name !== caller.name || me.tenant !== caller.tenant) location.reload();
    else onDone();
  };
  // A sign-in happens in another tab, so nothing typed here is lost; this page looks when it is in front again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: one listener while the dialog is open
  useEffect(() => {
    const look = () => void check().catch(() => undefined);
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);
  return (
    <Dialog title="Your session has ended" onClose={() => undefined} mayClose={false}>
      <p className="muted">
        Log in as <Text>{caller.name}</Text> to go on. This page and what you typed are kept.
      </p>
      <SignIn to="/" keepsPage />
      <KeyForm onDone={() => void check()} />
    </Dialog>
  );
}
