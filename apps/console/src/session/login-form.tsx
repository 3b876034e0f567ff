import type { SignInOptions } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { ask } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { ProblemNote, Text } from '../parts/problem-note.tsx';
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
export function SignIn({ to, keepsPage = false }: { to: string; keepsPage?: boolean }) {
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
export function KeyForm({ onDone }: { onDone: () => void }) {
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
