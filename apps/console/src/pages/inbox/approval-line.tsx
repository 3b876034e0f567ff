import { memo } from 'react';
import { Link } from 'wouter';
import { approvals, useApproval } from '../../api/entities.ts';
import { Badge } from '../../parts/badge.tsx';
import { useNow } from '../../parts/clock.ts';
import { ApprovalStatus, Risk } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago, Until } from '../../parts/time.tsx';
import { inOneLine } from './in-one-line.ts';
import { Viewers } from './viewers.tsx';
import { whyNotInBulk } from './why-not-in-bulk.ts';

interface Props {
  id: string;
  chosen: ReadonlySet<string>;
  onChoose: ((id: string, isChosen: boolean) => void) | undefined;
}

/** An approval in the list. */
export const ApprovalLine = memo(function ApprovalLine({ id, chosen, onChoose }: Props) {
  const approval = useApproval(id);
  if (approval === undefined) return null;
  const { action, run_title, step_id, status, kind, risk, quorum, decision, readable } = approval;
  const [first] = chosen;
  const whyNot = whyNotInBulk(approval, first === undefined ? undefined : approvals.get(first));
  return (
    <div className={onChoose === undefined ? 'line plain' : 'line'}>
      {onChoose !== undefined && (
        <input
          type="checkbox"
          checked={chosen.has(id)}
          disabled={whyNot !== undefined}
          title={whyNot}
          aria-label={`Choose ${action.tool} of ${run_title}`}
          onChange={({ target }) => onChoose(id, target.checked)}
        />
      )}
      <div className="line-body">
        <div className="line-head">
          <Link href={`/approvals/${id}`} className="line-link" data-row="">
            {step_id === null ? kind : <Text most={64}>{action.tool}</Text>}
          </Link>
          <span className="muted small one-line">
            <Text escaped most={120}>
              {run_title}
            </Text>
          </span>
        </div>
        <div className="line-call one-line">
          <Text escaped={readable.hidden} most={300}>
            {readable.hidden ? readable.action : inOneLine(approval)}
          </Text>
        </div>
        <div className="line-meta">
          {status === 'pending' && <Viewers approvalId={id} />}
          {quorum !== null && (
            <span>
              {quorum.approved} of {quorum.needed} approved
            </span>
          )}
          {readable.hidden && <Badge tone="bad">hidden characters</Badge>}
          {kind === 'indeterminate' && <Badge tone="bad">indeterminate</Badge>}
          {status === 'pending' ? (
            <>
              <Risk risk={risk} />
              <Deadline at={approval.expires_at} />
            </>
          ) : (
            <>
              <ApprovalStatus status={status} />
              {decision !== null && (
                <span>
                  <Text>{decision.by}</Text> <Ago at={decision.decided_at} />
                </span>
              )}
            </>
          )}
        </div>
      </div>
    </div>
  );
});

const soonMs = 15 * 60_000;

function Deadline({ at }: { at: string }) {
  const isSoon = Date.parse(at) - useNow(60_000) < soonMs;
  return (
    <span className={isSoon ? 'soon' : ''}>
      expires <Until at={at} />
    </span>
  );
}
