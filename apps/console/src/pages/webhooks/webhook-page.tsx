import type { DeliveryTry } from '@holdpoint/contract';
import type { Webhook, WebhookTest } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Link } from 'wouter';
import { isProblem } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Badge, Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago, wholeTime } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { Missing } from '../missing/missing-page.tsx';
import { useDeliveries, useSteer, useWebhook } from './use-webhooks.ts';
import { WebhookState } from './webhooks-page.tsx';

/** A webhook: its state, and its last requests. */
export function WebhookPage({ name }: { name: string }) {
  useTitle(`Webhook ${name}`);
  return (
    <div className="page">
      <h1>
        <Link href="/webhooks">Webhooks</Link> / <Text most={64}>{name}</Text>
      </h1>
      <Needs scope="webhooks:read" to="to see the webhooks">
        <Found name={name} />
      </Needs>
    </div>
  );
}

function Found({ name }: { name: string }) {
  const { data, error, isPending } = useWebhook(name);
  if (isProblem(error) && error.status === 404) return <Missing what="webhook" id={name} />;
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the webhook" />;
  return (
    <div className="stack">
      <Head webhook={data} />
      <Facts webhook={data} />
      <Deliveries name={name} />
    </div>
  );
}

function Head({ webhook }: { webhook: Webhook }) {
  const { name, off } = webhook;
  const steer = useSteer(name);
  const whyNot = useWhyNot('webhooks:write');
  const [failed, setFailed] = useState<unknown>();
  const [tested, setTested] = useState<WebhookTest>();
  const act = (what: () => Promise<unknown>) => () => {
    setFailed(undefined);
    setTested(undefined);
    what().catch(setFailed);
  };
  return (
    <>
      <div className="row">
        <WebhookState of={webhook} />
        <Button kind="main" whyNot={whyNot} onClick={act(() => steer.test().then(setTested))}>
          Send a test
        </Button>
        <Button whyNot={whyNot} onClick={act(() => steer.turn(off === null ? 'off' : 'on'))}>
          {off === null ? 'Switch off' : 'Switch on'}
        </Button>
      </div>
      {failed !== undefined && <ProblemNote error={failed} />}
      {tested !== undefined && (
        <Note tone={tested.delivered ? 'good' : 'warn'} title={tested.delivered ? 'It was delivered' : 'It failed'}>
          {tested.delivered ? `The receiver answered ${tested.status}.` : <Text most={500}>{tested.error ?? ''}</Text>}
        </Note>
      )}
      {off !== null && (
        <Note tone="warn" title="It is off">
          <Text most={100}>{off.by}</Text> switched it off <Ago at={off.at} />
          {off.reason !== undefined && (
            <>
              : <Text most={500}>{off.reason}</Text>
            </>
          )}
          . Events wait until it is switched on.
        </Note>
      )}
    </>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { url, events, labels, signature, public_key, pending, last_error, next_try } = webhook;
  return (
    <dl className="facts">
      <dt>Address</dt>
      <dd>
        <code>
          <Text most={2000}>{url}</Text>
        </code>
      </dd>
      <dt>Events</dt>
      <dd>{events.join(', ')}</dd>
      <dt>Labels</dt>
      <dd>
        {Object.keys(labels).length === 0
          ? 'any'
          : Object.entries(labels).map(([name, value]) => (
              <Text key={name} most={320}>
                {`${name}=${value} `}
              </Text>
            ))}
      </dd>
      <dt>Signature</dt>
      <dd>
        {signature} {public_key !== null && <code>{public_key}</code>}
      </dd>
      <dt>Waiting</dt>
      <dd>{pending === 0 ? 'nothing' : `events of ${pending} runs`}</dd>
      {next_try !== null && (
        <>
          <dt>Next try</dt>
          <dd>{wholeTime(next_try)}</dd>
        </>
      )}
      {last_error !== null && (
        <>
          <dt>Last error</dt>
          <dd>
            <Text most={500}>{last_error}</Text>
          </dd>
        </>
      )}
    </dl>
  );
}

function Deliveries({ name }: { name: string }) {
  const { data, error } = useDeliveries(name);
  if (error && data === undefined) return <ProblemNote error={error} />;
  const tries = data?.data ?? [];
  return (
    <section aria-label="Deliveries">
      <h2>Deliveries</h2>
      {tries.length === 0 && <p className="muted">None yet.</p>}
      {tries.length > 0 && (
        <ul className="card rows">
          {tries.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an event can be sent several times, and records are only added at the front
            <Line key={`${one.event_id} ${one.at} ${index}`} of={one} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Line({ of: { at, type, run_id, seq, ms, outcome, status, error, redelivered } }: { of: DeliveryTry }) {
  return (
    <li className="line plain">
      <div className="line-body">
        <div className="row">
          <time dateTime={at}>{wholeTime(at)}</time>
          <Badge tone={outcome === 'delivered' ? 'good' : 'bad'}>{outcome}</Badge>
          {redelivered === true && <Badge>again</Badge>}
          <Text most={60}>{type}</Text>
          <Link href={`/runs/${run_id}`}>{run_id}</Link>
        </div>
        <div className="line-meta">
          <span>event {seq}</span>
          <span>{ms} ms</span>
          {status !== undefined && <span>status {status}</span>}
          {error !== undefined && (
            <span>
              <Text most={500}>{error}</Text>
            </span>
          )}
        </div>
      </div>
    </li>
  );
}
