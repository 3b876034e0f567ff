import { Note } from '../../../parts/note.tsx';
import { Text } from '../../../parts/text.tsx';
import type { ShownRun } from '../shown-run.ts';

/** The pull request of the last publish, at its code host. */
export function PullRequest({ run }: ShownRun) {
  const { published } = run.publication;
  if (published?.type !== 'git' || published.pull_request === undefined) return null;
  const { number, repository, url } = published.pull_request;
  const name = <Text most={120}>{`${repository} #${number}`}</Text>;
  // The address comes from the code host: any other scheme would be a script.
  if (!url.startsWith('https://')) return <Note title="Pull request">{name}</Note>;
  return (
    <Note title="Pull request">
      <a href={url} target="_blank" rel="noreferrer">
        {name}
      </a>
    </Note>
  );
}
