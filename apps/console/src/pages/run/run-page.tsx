import { type ComponentType, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { isProblem } from '../../api/request.ts';
import { useRunDetail } from '../../api/runs.ts';
import type { Topic } from '../../live/messages.ts';
import { Loading } from '../../parts/empty.tsx';
import { later } from '../../parts/later.tsx';
import { ProblemNote } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Missing } from '../missing/missing-page.tsx';
import { RunHead } from './head/run-head.tsx';
import { useKeepLiveTexts } from './live-texts.ts';
import { FollowedRun, type ShownRun } from './shown-run.ts';

const tabs: readonly { name: string; title: string; Content: ComponentType<ShownRun> }[] = [
  tab('', 'Timeline', async () => (await import('./timeline/timeline.tsx')).Timeline),
  tab('conversation', 'Conversation', async () => (await import('./conversation/conversation.tsx')).Conversation),
  tab('changes', 'Changes', async () => (await import('./changes/changes.tsx')).Changes),
  tab('files', 'Files', async () => (await import('./files/files.tsx')).Files),
  tab('tasks', 'Background', async () => (await import('./tasks/tasks.tsx')).Tasks),
  tab('trace', 'Trace', async () => (await import('./trace/trace.tsx')).Trace),
  tab('events', 'Events', async () => (await import('./events/events.tsx')).Events),
];
const StepPage = part('steps', async () => (await import('./step/step-page.tsx')).StepPage);

function tab(name: string, title: string, load: () => Promise<ComponentType<ShownRun>>) {
  return { name, title, Content: part(name, load) };
}

/** The part of the first address loads with the page, while the run is still read. */
function part<Props extends object>(name: string, load: () => Promise<ComponentType<Props>>) {
  const [, , , current = ''] = location.pathname.split('/');
  return later(load, { now: current === name, waiting: <Loading of="this part" /> });
}

/** `/runs/ID`, `/runs/ID/TAB`, `/runs/ID/steps/STEP`. */
export function RunPage({ id }: { id: string }) {
  const { data: run, error, isPending } = useRunDetail(id);
  const [path] = useLocation();
  const [, , , name = '', stepId = ''] = path.split('/');
  useTitle(run?.title ?? 'Run');
  const [topic, setTopic] = useState<Topic>();
  // The stream begins where the page began: what it reads itself is not sent again.
  if (topic === undefined && run !== undefined) setTopic({ path: `/v1/runs/${id}/events`, after: String(run.seq) });
  useKeepLiveTexts(topic);
  // A refetch clears the error for a moment: the answer of the API stays.
  const [isMissing, setMissing] = useState(false);
  if (!isMissing && isProblem(error) && error.status === 404) setMissing(true);
  if (isMissing) return <Missing what="run" id={id} />;
  const Content = tabs.find((each) => each.name === name)?.Content;
  return (
    <div className="page run-page">
      {run === undefined && <h1 className="hidden-text">Run</h1>}
      {error && <ProblemNote error={error} />}
      {isPending && <Loading of="the run" />}
      {run && topic && (
        <FollowedRun value={topic}>
          <RunHead run={run} />
          <Tabs runId={id} current={name} />
          {name === 'steps' ? <StepPage key={stepId} run={run} stepId={stepId} /> : Content && <Content run={run} />}
          {name !== 'steps' && !Content && <Missing what="page" id={name} />}
        </FollowedRun>
      )}
    </div>
  );
}

function Tabs({ runId, current }: { runId: string; current: string }) {
  const here = current === 'steps' ? '' : current;
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link of the current tab changes with the tab
  useEffect(() => {
    // On a phone the tabs are wider than the screen.
    const link = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (list.current && link) list.current.scrollLeft = link.offsetLeft - 48;
  }, [here]);
  return (
    <nav className="tabs" aria-label="Parts of the run" ref={list}>
      {tabs.map(({ name, title }) => (
        <Link
          key={name}
          href={`/runs/${runId}${name === '' ? '' : `/${name}`}`}
          aria-current={here === name ? (current === 'steps' ? 'true' : 'page') : undefined}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
