interface Signature {
  name: string;
  email: string;
}

/** The author and committer of Holdpoint's commits. */
export const signature: Signature = { name: 'Holdpoint', email: 'holdpoint@localhost' };

/** Removes characters that would end a name in a commit header or begin another line. */
const plain = (text: string): string => text.replaceAll(/[<>\p{Cc}]/gu, '').trim();

/**
 * Content of a commit object. The date is an input and not read from the clock: the same inputs give the same id, so a repeated call
 * after a crash finds its own work.
 * @param input.seconds date, seconds since 1970
 */
export function commitContent(input: {
  tree: string;
  parent: string | null;
  /** A commit that must be stored as long as this one. */
  secondParent?: string;
  seconds: number;
  message: string;
  author?: Signature;
}): Buffer {
  const by = ({ name, email }: Signature) => `${plain(name)} <${plain(email)}> ${input.seconds} +0000`;
  const lines = [`tree ${input.tree}`];
  if (input.parent !== null) lines.push(`parent ${input.parent}`);
  if (input.secondParent !== undefined) lines.push(`parent ${input.secondParent}`);
  lines.push(
    `author ${by(input.author ?? signature)}`,
    `committer ${by(signature)}`,
    '',
    input.message.replaceAll('\0', '').trimEnd(),
    '',
  );
  return Buffer.from(lines.join('\n'));
}

/** Tree, first parent and message of a commit's content. */
export function readCommit(content: Buffer): { tree: string; parent: string | null; message: string } {
  const text = content.toString('utf8');
  const end = text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const field = (name: string) => new RegExp(`^${name} ([0-9a-f]{40})$`, 'm').exec(head)?.[1];
  return {
    tree: field('tree') ?? '',
    parent: field('parent') ?? null,
    message: end === -1 ? '' : text.slice(end + 2),
  };
}
