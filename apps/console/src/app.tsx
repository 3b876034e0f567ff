import { type QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { createQueryClient } from './api/query-client.ts';
import { runQuery } from './api/runs.ts';
import { KeepFresh } from './live/keep-fresh.tsx';
import { LoginPage } from './pages/login/login-page.tsx';
import { Missing } from './pages/missing/missing-page.tsx';
import { Loading } from './parts/empty.tsx';
import { Session } from './session/session.tsx';
import { Failure } from './shell/failure.tsx';
import { Shell } from './shell/shell.tsx';

const ApprovalPage = later(
  /^\/approvals\/./,
  async () => (await import('./pages/approval/approval-page.tsx')).ApprovalPage,
);
const InboxPage = later(/^\/(approvals)?$/, async () => (await import('./pages/inbox/inbox-page.tsx')).InboxPage);
const NewRunPage = later(/^\/new$/, async () => (await import('./pages/new-run/new-run-page.tsx')).NewRunPage);
const RunsPage = later(/^\/runs$/, async () => (await import('./pages/runs/runs-page.tsx')).RunsPage);
const PoliciesPage = later(
  /^\/policies$/,
  async () => (await import('./pages/policies/policies-page.tsx')).PoliciesPage,
);
const PolicyPage = later(/^\/policies\/./, async () => (await import('./pages/policies/policy-page.tsx')).PolicyPage);
const NewPolicyPage = later(
  /^\/new-policy$/,
  async () => (await import('./pages/policies/new-policy-page.tsx')).NewPolicyPage,
);
const RulesPage = later(/^\/rules$/, async () => (await import('./pages/policies/rules-page.tsx')).RulesPage);
const ReplayPage = later(/^\/replay$/, async () => (await import('./pages/policies/replay-page.tsx')).ReplayPage);
const ProposalsPage = later(
  /^\/proposals$/,
  async () => (await import('./pages/policies/proposals-page.tsx')).ProposalsPage,
);
const AuditPage = later(/^\/audit$/, async () => (await import('./pages/audit/audit-page.tsx')).AuditPage);
const KeysPage = later(/^\/keys$/, async () => (await import('./pages/keys/keys-page.tsx')).KeysPage);
const SessionsPage = later(
  /^\/sessions$/,
  async () => (await import('./pages/sessions/sessions-page.tsx')).SessionsPage,
);
const RunPage = later(/^\/runs\/./, async () => (await import('./pages/run/run-page.tsx')).RunPage);

/** A page in a file of its own. The page of the first address loads at once, while the caller is still asked for. */
function later<Props>(address: RegExp, load: () => Promise<ComponentType<Props>>) {
  // A failed load is tried again when the page is shown.
  const first = address.test(location.pathname) ? load().catch(() => undefined) : undefined;
  return lazy(async () => ({ default: (await first) ?? (await load()) }));
}

/** The queries, with the run of the first address under way. */
function beginQueries(): QueryClient {
  const queries = createQueryClient();
  const id = /^\/runs\/([^/]+)/.exec(location.pathname)?.[1];
  if (id !== undefined) void queries.prefetchQuery(runQuery(id));
  return queries;
}

export function App() {
  const [queries] = useState(beginQueries);
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
