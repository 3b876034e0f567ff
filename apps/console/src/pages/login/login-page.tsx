import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { ask } from '../../api/request.ts';
import { LoginForm } from '../../session/session.tsx';

/** `/login`, and `/login#code=…&to=…` of `holdpoint open`: the code leaves the address before it is exchanged, and works once. */
export function LoginPage({ onDone }: { onDone: () => void }) {
  const [, go] = useLocation();
  const [fragment] = useState(() => new URLSearchParams(location.hash.slice(1)));
  const code = fragment.get('code');
  const [problem, setProblem] = useState<unknown>();
  const enter = () => {
    onDone();
    go(pageIn(fragment), { replace: true });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the code is exchanged once, however often the page paints
  useEffect(() => {
    if (code === null) return;
    history.replaceState(null, '', '/login');
    exchangeOnce(code).then(enter, setProblem);
  }, [code]);
  if (code !== null && problem === undefined) return <p className="login muted">Logging in …</p>;
  return <LoginForm onDone={enter} problem={problem} />;
}

/** Pages of the console alone. */
function pageIn(fragment: URLSearchParams): string {
  const page = fragment.get('to') ?? '';
  return /^\/(runs|approvals)\/[a-z]+_[0-9a-f-]+$/.test(page) ? page : '/approvals';
}

let exchange: Promise<unknown> | undefined;
const exchangeOnce = (code: string): Promise<unknown> => {
  exchange ??= ask({ method: 'POST', path: '/v1/session/exchange', body: { code } });
  return exchange;
};
