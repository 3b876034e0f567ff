import { type QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { type ComponentType, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { createQueryClient } from './api/query-client.ts';
import { runQuery } from './api/runs.ts';
import { KeepFresh } from './live/keep-fresh.tsx';
import { LoginPage } from './pages/login/login-page.tsx';
import { Missing } from './pages/missing/missing-page.tsx';
import { Loading } from './parts/empty.tsx';
import { later } from './parts/later.tsx';
import { Session } from './session/session.tsx';
import { Failure } from './shell/failure.tsx';
import { Shell } from './shell/shell.tsx';

const ApprovalPage = page(
  /^\/approvals\/./,
  async () => (await import('./pages/approval/approval-page.tsx')).ApprovalPage,
);
const InboxPage = page(/^\/(approvals)?$/, async () => (await import('./pages/inbox/inbox-page.tsx')).InboxPage);
const NewRunPage = page(/^\/new$/, async () => (await import('./pages/new-run/new-run-page.tsx')).NewRunPage);
const RunsPage = page(/^\/runs$/, async () => (await import('./pages/runs/runs-page.tsx')).RunsPage);
const PoliciesPage = page(
  /^\/policies$/,
  async () => (await import('./pages/policies/policies-page.tsx')).PoliciesPage,
);
const PolicyPage = page(/^\/policies\/./, async () => (await import('./pages/policies/policy-page.tsx')).PolicyPage);
const NewPolicyPage = page(
  /^\/new-policy$/,
  async () => (await import('./pages/policies/new-policy-page.tsx')).NewPolicyPage,
);
const RulesPage = page(/^\/rules$/, async () => (await import('./pages/policies/rules-page.tsx')).RulesPage);
const ReplayPage = page(/^\/replay$/, async () => (await import('./pages/policies/replay-page.tsx')).ReplayPage);
const ProposalsPage = page(
  /^\/proposals$/,
  async () => (await import('./pages/policies/proposals-page.tsx')).ProposalsPage,
);
const AuditPage = page(/^\/audit$/, async () => (await import('./pages/audit/audit-page.tsx')).AuditPage);
const KeysPage = page(/^\/keys$/, async () => (await import('./pages/keys/keys-page.tsx')).KeysPage);
const SessionsPage = page(
  /^\/sessions$/,
  async () => (await import('./pages/sessions/sessions-page.tsx')).SessionsPage,
);
const ServersPage = page(/^\/servers$/, async () => (await import('./pages/servers/servers-page.tsx')).ServersPage);
const ServerPage = page(/^\/servers\/./, async () => (await import('./pages/servers/server-page.tsx')).ServerPage);
const SchedulesPage = page(
  /^\/schedules$/,
  async () => (await import('./pages/schedules/schedules-page.tsx')).SchedulesPage,
);
const SchedulePage = page(
  /^\/schedules\/./,
  async () => (await import('./pages/schedules/schedule-page.tsx')).SchedulePage,
);
const WebhooksPage = page(
  /^\/webhooks$/,
  async () => (await import('./pages/webhooks/webhooks-page.tsx')).WebhooksPage,
);
const WebhookPage = page(/^\/webhooks\/./, async () => (await import('./pages/webhooks/webhook-page.tsx')).WebhookPage);
const RunPage = page(/^\/runs\/./, async () => (await import('./pages/run/run-page.tsx')).RunPage);

/** A page in a file of its own. The page of the first address loads at once, while the caller is still asked for. */
function page<Props extends object>(address: RegExp, load: () => Promise<ComponentType<Props>>) {
  return later(load, { now: address.test(location.pathname), waiting: <Waiting /> });
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
        <Route path="/servers">
          <ServersPage />
        </Route>
        <Route path="/servers/:name">{({ name }) => <ServerPage key={name} name={name} />}</Route>
        <Route path="/schedules">
          <SchedulesPage />
        </Route>
        <Route path="/schedules/:name">{({ name }) => <SchedulePage key={name} name={name} />}</Route>
        <Route path="/webhooks">
          <WebhooksPage />
        </Route>
        <Route path="/webhooks/:name">{({ name }) => <WebhookPage key={name} name={name} />}</Route>
        <Route path="/sessions">
          <SessionsPage />
        </Route>
        <Route>
          <Missing />
        </Route>
      </Switch>
    </Failure>
  );
}

function Waiting() {
  return (
    <div className="page">
      <h1 className="hidden-text">Holdpoint</h1>
      <Loading of="the page" />
    </div>
  );
}
