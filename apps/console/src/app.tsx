import { QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { createQueryClient } from './api/query-client.ts';
import { KeepFresh } from './live/keep-fresh.tsx';
import { LoginPage } from './pages/login/login-page.tsx';
import { Missing } from './pages/missing/missing-page.tsx';
import { Loading } from './parts/empty.tsx';
import { Session } from './session/session.tsx';
import { Failure } from './shell/failure.tsx';
import { Shell } from './shell/shell.tsx';

const ApprovalPage = lazy(async () => ({
  default: (await import('./pages/approval/approval-page.tsx')).ApprovalPage,
}));
const InboxPage = lazy(async () => ({ default: (await import('./pages/inbox/inbox-page.tsx')).InboxPage }));
const NewRunPage = lazy(async () => ({ default: (await import('./pages/new-run/new-run-page.tsx')).NewRunPage }));
const RunsPage = lazy(async () => ({ default: (await import('./pages/runs/runs-page.tsx')).RunsPage }));
const RunPage = lazy(async () => ({ default: (await import('./pages/run/run-page.tsx')).RunPage }));

export function App() {
  const [queries] = useState(createQueryClient);
  return (
    <QueryClientProvider client={queries}>
      <Switch>
        <Route path="/login">
          <Login />
        </Route>
        <Route>
          <Session>
            <KeepFresh />
            <Shell>
              <Pages />
            </Shell>
          </Session>
        </Route>
      </Switch>
    </QueryClientProvider>
  );
}

function Login() {
  const queries = useQueryClient();
  return <LoginPage onDone={() => queries.clear()} />;
}

function Pages() {
  const [path] = useLocation();
  return (
    <Failure at={path}>
      <Suspense fallback={<Waiting />}>
        <Switch>
          <Route path="/">
            <Redirect to="/approvals" replace />
          </Route>
          <Route path="/approvals">
            <InboxPage />
          </Route>
          <Route path="/approvals/:id">{({ id }) => <ApprovalPage key={id} id={id} />}</Route>
          <Route path="/runs">
            <RunsPage />
          </Route>
          <Route path="/new">
            <NewRunPage />
          </Route>
          <Route path="/runs/:id/*?">{({ id }) => <RunPage key={id} id={id} />}</Route>
          <Route>
            <Missing />
          </Route>
        </Switch>
      </Suspense>
    </Failure>
  );
}

const Waiting = () => (
  <div className="page">
    <h1 className="hidden-text">Holdpoint</h1>
    <Loading of="the page" />
  </div>
);
