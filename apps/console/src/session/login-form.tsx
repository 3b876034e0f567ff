import { type FormEvent, useId, useState } from 'react';
import { ask } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
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
        <KeyForm onDone={onDone} />
      </div>
    </main>
  );
}

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
