import type { Webhook } from '@holdpoint/contract/wire';
import { Link } from 'wouter';
import { Empty, Loading } from '../../parts/empty.tsx';
import { Badge, type Tone } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/session.tsx';
import { useWebhookList } from './use-webhooks.ts';

const tones: Record<Webhook['status'], Tone> = { active: 'good', failing: 'warn', off: 'bad' };

export const WebhookState = ({ of: { status } }: { of: Webhook }) => <Badge tone={tones[status]}>{status}</Badge>;

/** The addresses that events are reported to. */
export function WebhooksPage() {
  useTitle('Webhooks');
  return (
    <div className="page">
      <h1>Webhooks</h1>
      <p className="muted">
        Events to other systems. A webhook is stored with `holdpoint webhooks put`, or with the API.
      </p>
      <Needs scope="webhooks:read" to="to see the webhooks">
        <List />
      </Needs>
    </div>
  );
}

function List() {
  const { data, error, isPending } = useWebhookList();
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the webhooks" />;
  if (data.data.length === 0)
    return (
      <Empty icon="runs" title="No webhook yet">
        <p>A webhook reports approvals, ends of runs and other events to an address of yours.</p>
      </Empty>
    );
  return (
    <ul className="card rows" aria-label="Webhooks">
      {data.data.map((webhook) => (
        <Line key={webhook.name} webhook={webhook} />
      ))}
    </ul>
  );
}

function Line({ webhook }: { webhook: Webhook }) {
  const { name, url, pending, last_delivered, note } = webhook;
  return (
    <li className="line plain">
      <div className="line-body">
        <div className="row">
          <Link href={`/webhooks/${encodeURIComponent(name)}`} className="line-link" data-row="">
            <Text most={64}>{name}</Text>
          </Link>
          <WebhookState of={webhook} />
        </div>
        <div className="line-meta">
          <code>
            <Text most={200}>{url}</Text>
          </code>
          {pending > 0 && <span>events of {pending} runs wait</span>}
          {last_delivered !== null && (
            <span>
              delivered <Ago at={last_delivered} />
            </span>
          )}
        </div>
        {note !== undefined && (
          <p className="small muted">
            <Text most={300}>{note}</Text>
          </p>
        )}
      </div>
    </li>
  );
}
