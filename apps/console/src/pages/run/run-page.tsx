import { isProblem } from '../../api/problem.ts';
import { useRunDetail } from '../../api/runs.ts';
import { Loading } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RunStatus } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Missing } from '../missing/missing-page.tsx';

/** A run: its title and status. */
export function RunPage({ id }: { id: string }) {
  const run = useRunDetail(id);
  useTitle(run.data?.title ?? 'Run');
  if (isProblem(run.error) && run.error.status === 404) return <Missing what="run" id={id} />;
  return (
    <div className="page">
      {run.error && <ProblemNote error={run.error} />}
      {run.isPending && <Loading of="the run" />}
      {run.data && (
        <div className="page-head">
          <h1>
            <Text>{run.data.title}</Text>
          </h1>
          <RunStatus status={run.data.status} />
        </div>
      )}
    </div>
  );
}
