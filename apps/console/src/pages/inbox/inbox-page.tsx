import { memo, useState } from 'react';
import { Link } from 'wouter';
import { type ApprovalFilter, useApprovalCounts, useApprovalList } from '../../api/approvals.ts';
import { approvals, idsOf, useApproval } from '../../api/entities.ts';
import { usePresence } from '../../api/presence.ts';
import { Choices } from '../../parts/choices.tsx';
import { Empty } from '../../parts/empty.tsx';
import { EntityList } from '../../parts/entity-list.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
import { Badge } from '../../parts/note.tsx';
import { ApprovalStatus, Risk } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago, Until, useNow } from '../../parts/time.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { useTitle } from '../../parts/use-title.ts';
import { useMe } from '../../session/session.tsx';
import { Bulk, inOneLine } from './bulk.tsx';
import { useSnoozed } from './snoozed.ts';
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

const decided = ['approved', 'edited', 'rejected', 'responded', 'expired', 'canceled'] as const;
const shows = ['waiting', 'snoozed', 'decided'] as const;
const decidedWords = ['all', ...decided] as const;

/** What waits for a decision, the most urgent first; and what was decided. */
export function InboxPage() {
  const [filters, change] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const show = shows.find((each) => each === filters.get('show')) ?? 'waiting';
  const isDecided = show === 'decided';
  const { isSnoozed } = useSnoozed();
  const status = decided.find((each) => each === filters.get('status'));
  const filter: ApprovalFilter = {
    status: isDecided ? (status === undefined ? decided : [status]) : ['pending'],
    ...Object.fromEntries(texts.map(([name]) => [name, filters.get(name) ?? undefined])),
  };
  const list = useApprovalList(filter, isDecided ? 'newest' : 'expires_first');
  const counts = useApprovalCounts();
  const all = idsOf(list);
  // A decision is known before the list is read again: what has it leaves the inbox at once.
  const waiting = all.filter((id) => approvals.get(id)?.status === 'pending');
  const snoozed = isDecided ? [] : waiting.filter(isSnoozed);
  const ids = isDecided ? all : show === 'snoozed' ? snoozed : waiting.filter((id) => !isSnoozed(id));
  const pending = counts.data?.by_status.pending;
  useTitle(pending ? `(${pending}) Inbox` : 'Inbox');
  return (
    <div className="page">
      <div className="page-head">
        <h1>Inbox</h1>
        <Choices
          label="Which approvals"
          value={show}
          options={[
            ['waiting', pending === undefined ? 'Waiting' : `Waiting ${pending.toLocaleString('en')}`],
            ['snoozed', snoozed.length === 0 ? 'Snoozed' : `Snoozed ${snoozed.length}`],
            ['decided', 'Decided'],
          ]}
          onChoose={(next) => {
            setChosen(new Set());
            change({ show: next === 'waiting' ? undefined : next, status: undefined, by: undefined });
          }}
        />
      </div>
      <div className="filters">
        {texts.map(([name, label]) =>
          name === 'by' && !isDecided ? null : (
            <FilterField
              key={name}
              label={label}
              value={filters.get(name) ?? ''}
              {...(name === 'tool' ? { icon: 'search' as const } : {})}
              onChange={(text) => change({ [name]: text.trim() })}
            />
          ),
        )}
        {isDecided && (
          <Choices
            label="How they ended"
            value={status ?? 'all'}
            options={decidedWords.map((each) => [each, each] as const)}
            onChoose={(each) => change({ status: each === 'all' ? undefined : each })}
          />
        )}
      </div>
      <EntityList
        list={list}
        ids={ids}
        of="the approvals"
        label={isDecided ? 'Decided approvals' : 'Approvals that wait'}
        rowHeight={76}
        row={(id) => <ApprovalLine id={id} chosen={chosen} onChoose={isDecided ? undefined : choose} />}
      >
        <Nothing show={show} snoozed={snoozed.length} />
      </EntityList>
      {chosen.size > 0 && <Bulk chosen={approvals.some(chosen)} onClear={() => setChosen(new Set())} />}
    </div>
  );

  function choose(id: string, isChosen: boolean): void {
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((each) => each !== id)));
  }
}

const texts = [
  ['tool', 'Tool'],
  ['run_id', 'Run id'],
  ['label', 'Label name=value'],
  ['by', 'Decided by'],
] as const;

function Nothing({ show, snoozed }: { show: (typeof shows)[number]; snoozed: number }) {
  if (show === 'decided') {
    return (
      <Empty icon="inbox" title="No such decision">
        <p>No decided approval matches these filters.</p>
      </Empty>
    );
  }
  if (show === 'snoozed') {
    return (
      <Empty icon="clock" title="Nothing is snoozed">
        <p>What you snooze waits here, in this browser alone.</p>
      </Empty>
    );
  }
  return (
    <Empty icon="check" title="Nothing waits for you">
      <p>
        {snoozed > 0
          ? `${snoozed} snoozed ${snoozed === 1 ? 'approval comes' : 'approvals come'} back by themselves.`
          : 'New requests appear here by themselves, the most urgent first.'}
      </p>
    </Empty>
  );
}

/** Other callers who look at the approval now, so that two do not decide at once without knowing. */
function useViewers(approvalId: string): string[] {
  const { name: me } = useMe();
  const { data } = usePresence();
  const found = data?.data.find(({ approval_id }) => approval_id === approvalId);
  return found?.viewers.flatMap(({ name }) => (name === me ? [] : [name])) ?? [];
}

export function Viewers({ approvalId }: { approvalId: string }) {
  const names = useViewers(approvalId);
  if (names.length === 0) return null;
  return (
    <Badge tone="info" icon="eye">
      <Text most={80}>{names.join(', ')}</Text> {names.length === 1 ? 'looks' : 'look'} at it
    </Badge>
  );
}
