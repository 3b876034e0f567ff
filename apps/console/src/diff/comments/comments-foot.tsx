import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import type { DiffStat } from '../use-files.ts';
import { DraftCard } from './draft-card.tsx';
import { DraftsBar } from './drafts-bar.tsx';
import type { Comments } from './use-comments.ts';

/** Below the rows: drafts of files that this diff has not, and what sends all of them. */
export const CommentsFoot = ({ comments, stat }: { comments: Comments; stat: DiffStat }) => (
  <>
    {comments.unseen.map((placed) => (
      <Note key={placed.draft.id} title={<Text>{placed.draft.path}</Text>}>
        <p className="small">The file is not part of this change.</p>
        <DraftCard placed={placed} comments={comments} />
      </Note>
    ))}
    <DraftsBar runId={stat.run_id} drafts={comments.drafts} placed={comments.placed} snapshots={stat} />
  </>
);
