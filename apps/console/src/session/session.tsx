import type { Me } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { ask, isProblem } from '../api/request.ts';
import { onSessionEnd } from '../api/session-end.ts';
import { tryNow } from '../live/live.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { ProblemNote, Text } from '../parts/problem-note.tsx';
import { KeyForm, LoginForm, SignIn } from './login-form.tsx';

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
export function LoginAgain({ caller, onDone }: { caller: Me; onDone: () => void }) {
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
