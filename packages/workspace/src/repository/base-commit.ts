import { commitContent, signature } from '../git-objects/commit-object.ts';

/**
 * The first commit of a workspace's repository. It holds the files of the first snapshot and has no parent. For a git source it has the
 * message, author and dates of the source's commit.
 * @param input.source content of that commit
 */
export function baseCommitContent(input: { tree: string; seconds: number; source: Buffer | undefined }): Buffer {
  if (input.source === undefined) {
    return commitContent({
      tree: input.tree,
      parent: null,
      seconds: input.seconds,
      message: 'Base of the run',
      author: signature,
    });
  }
  const end = input.source.indexOf('\n\n');
  const head = input.source.toString('latin1', 0, end).split('\n');
  const kept = head.filter((line) => /^(author|committer|encoding) /.test(line));
  const lines = [`tree ${input.tree}`, ...kept, '', ''];
  return Buffer.concat([Buffer.from(lines.join('\n'), 'latin1'), input.source.subarray(end + 2)]);
}
