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
const PoliciesPage = lazy(async () => ({ default: (await import('./pages/policies/policies-page.tsx')).PoliciesPage }));
const PolicyPage = lazy(async () => ({ default: (await import('./pages/policies/policy-page.tsx')).PolicyPage }));
const NewPolicyPage = lazy(async () => ({
  default: (await import('./pages/policies/new-policy-page.tsx')).NewPolicyPage,
}));
const RulesPage = lazy(async () => ({ default: (await import('./pages/policies/rules-page.tsx')).RulesPage }));
const ReplayPage = lazy(async () => ({ default: (await import('./pages/policies/replay-page.tsx')).ReplayPage }));
const ProposalsPage = lazy(async () => ({
  default: (await import('./pages/policies/proposals-page.tsx')).ProposalsPage,
}));
const AuditPage = lazy(async () => ({ default: (await import('./pages/audit/audit-page.tsx')).AuditPage }));
const KeysPage = lazy(async () => ({ default: (await import('./pages/keys/keys-page.tsx')).KeysPage }));
const SessionsPage = lazy(async () => ({ default: (await import('./pages/sessions/sessions-page.tsx')).SessionsPage }));
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
          <Route path="/policies">
            <PoliciesPage />
          </Route>
          <Route path="/policies/:name">{({ name }) => <PolicyPage key={name} name={name} />}</Route>
          <Route path="/new-policy">
            <NewPolicyPage />
          </Route>
          <Route path="/rules">
            <RulesPage />
          </Route>
          <Route path="/replay">
            <ReplayPage />
          </Route>
          <Route path="/proposals">
            <ProposalsPage />
          </Route>
          <Route path="/audit">
            <AuditPage />
          </Route>
          <Route path="/keys">
            <KeysPage />
          </Route>
          <Route path="/sessions">
            <SessionsPage />
          </Route>
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
