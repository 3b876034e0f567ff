import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { ask } from '../../api/request.ts';
import { LoginForm } from '../../session/login-form.tsx';

/** `/login`, and `/login#code=…` of `holdpoint open`: the code leaves the address before it is exchanged, and works once. */
export function LoginPage({ onDone }: { onDone: () => void }) {
  const [, go] = useLocation();
  const [code] = useState(() => new URLSearchParams(location.hash.slice(1)).get('code'));
  const [problem, setProblem] = useState<unknown>();
  const enter = () => {
    onDone();
    go('/approvals', { replace: true });
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

let exchange: Promise<unknown> | undefined;
const exchangeOnce = (code: string): Promise<unknown> => {
  exchange ??= ask({ method: 'POST', path: '/v1/session/exchange', body: { code } });
  return exchange;
};
