import { memo } from 'react';
import { Link } from 'wouter';
import { useRun } from '../../api/entities.ts';
import { Badge } from '../../parts/badge.tsx';
import { isOver } from '../../parts/is-over.ts';
import { RunStatus } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';

interface Props {
  id: string;
  isChosen: boolean;
  onChoose: (id: string, isChosen: boolean) => void;
}

/** A run in the list, at its newest known state. */
export const RunLine = memo(function RunLine({ id, isChosen, onChoose }: Props) {
  const run = useRun(id);
  if (run === undefined) return null;
  const { title, status, usage, reason, pending_approvals: pending, labels, created_by, publication } = run;
  return (
    <div className="line">
      <input
        type="checkbox"
        checked={isChosen}
        disabled={isOver(status)}
        title={isOver(status) ? 'It is over' : undefined}
        aria-label={`Choose ${title}`}
        onChange={({ target }) => onChoose(id, target.checked)}
      />
      <div className="line-body">
        <div className="one-line">
          <Link
            href={`/runs/${id}`}
            className="line-link"
            data-row=""
            data-failed={status === 'failed' ? '' : undefined}
          >
            <Text most={160}>{title}</Text>
          </Link>
        </div>
        <div className="line-meta">
          {reason !== null && (
            <span className="one-line">
              <Text most={120}>{reason.message}</Text>
            </span>
          )}
          <span>
            {usage.steps} {usage.steps === 1 ? 'step' : 'steps'}
          </span>
          {usage.cost_usd > 0 && <span className="numbers">${usage.cost_usd.toFixed(2)}</span>}
          <span>
            {created_by !== null && <Text most={40}>{created_by}</Text>} <Ago at={run.created_at} />
          </span>
          {Object.entries(labels)
            .slice(0, 3)
            .map(([name, value]) => (
              <Badge key={name}>
                <Text most={40}>{`${name}: ${value}`}</Text>
              </Badge>
            ))}
        </div>
        <div className="line-meta">
          {pending > 0 && (
            <Badge tone="warn" icon="inbox">
              {pending} to decide
            </Badge>
          )}
          {publication.status === 'published' && <Badge tone="good">published</Badge>}
          <RunStatus status={status} />
        </div>
      </div>
    </div>
  );
});
