import type { PublishPlan, Validation } from '@holdpoint/contract/wire';
import { nameText, oneLine, plain } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { leftOutText } from './diff-text.ts';
import { table } from './layout.ts';
import { branchName } from './run-text.ts';
import { counted, duration } from './units.ts';

type Conflict = PublishPlan['conflicts'][number];
type PullRequest = NonNullable<Extract<PublishPlan['target'], { type: 'git' }>['pull_request']>;
type Version = NonNullable<Conflict['versions']>['base'];

/** How the source's `.gitattributes` convert a file. */
const conversionNotes = {
  line_endings: 'CRLF becomes LF',
  ident: '$Id$ without a value',
  lfs: 'as an LFS pointer',
} satisfies Record<NonNullable<PublishPlan['converted']>[number]['how'], string>;

/**
 * The plan of a publish, file by file, the left-out files, and all three versions of files in conflict.
 * @param options.hunksFollow the caller shows files with a merge by lines
 */
export function publishPlanText(plan: PublishPlan, colors: Colors, { hunksFollow = false } = {}): string[] {
  const { files, conflicts, converted = [] } = plan;
  const conversions = new Map(converted.map(({ path, how }) => [path, conversionNotes[how]]));
  // A moved file takes a single line.
  const shown = files.filter(({ moved_to }) => moved_to === undefined);
  const rows = shown.map(({ status, path, old_mode, new_mode, moved_from }) => {
    const notes = [
      status === 'modified' && old_mode !== new_mode ? `mode ${old_mode} -> ${new_mode}` : '',
      conversions.get(path) ?? '',
    ];
    const [what, name] =
      moved_from === undefined ? [status, nameText(path)] : ['moved', `${nameText(moved_from)} → ${nameText(path)}`];
    return [what, name, notes.filter((note) => note !== '').join(', ')];
  });
  const [, ...lines] = table(['', '', ''], rows);
  return [
    ...targetLines(plan),
    ...lines,
    ...leftOutText(plan.left_out, colors),
    ...(conflicts.length > 0 ? ['', colors.red(`Nothing is published while there are conflicts:`)] : []),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, { colors, hunksFollow })),
  ];
}

function targetLines({ target, conflicts, files }: PublishPlan): string[] {
  if (target.type === 'directory') {
    return [
      `into the directory ${nameText(target.path)}${files.length === 0 && conflicts.length === 0 ? ': nothing' : ''}`,
    ];
  }
  const { branch, how, from, commit, path, message, author, pull_request: pull } = target;
  const name = nameText(branchName(branch));
  const what = {
    create: `a new branch ${name}`,
    fast_forward: `branch ${name}, which has not moved since the run began`,
    merge: `branch ${name}, merged with its newer commits (${from?.slice(0, 10)})`,
    nothing: conflicts.length > 0 ? `branch ${name}` : `branch ${name}: nothing to do`,
  }[how];
  return [
    `${what}, in ${nameText(path)}`,
    ...(commit === null ? [] : [`commit ${commit}`]),
    ...(pull === undefined ? [] : [pullRequestLine(pull)]),
    oneLine(`author ${author.name} <${author.email}>`),
    ...plain(message)
      .split('\n')
      .map((line) => `    ${line}`),
  ];
}

function pullRequestLine({ title, base, repository, api, draft }: PullRequest): string {
  const into = base === undefined ? 'the default branch' : nameText(base);
  return `${draft ? 'draft ' : ''}pull request "${oneLine(title)}" into ${into} of ${nameText(repository)}, by ${nameText(api)}`;
}

function conflictLines(
  { path, reason, detail, versions, merge }: Conflict,
  { colors, hunksFollow }: { colors: Colors; hunksFollow: boolean },
): string[] {
  const head = `${colors.bold(nameText(path))}: ${oneLine(detail)} (${reason})`;
  if (versions === undefined) return ['', head];
  if (merge !== undefined && hunksFollow) return ['', head, `  ${mergeText(merge.hunks)}`];
  return [
    '',
    head,
    ...(merge === undefined ? [] : [`  ${mergeText(merge.hunks)}`]),
    ...versionLines('at the start of the run', versions.base, colors),
    ...versionLines('now in the source', versions.source, colors),
    ...versionLines('by the run', versions.run, colors),
  ];
}

const mergeText = (hunks: number): string =>
  hunks === 0 ? 'by lines: the edits touch different lines' : `by lines: ${counted(hunks, 'conflicting hunk')}`;

const maxLines = 200;

function versionLines(title: string, version: Version, colors: Colors): string[] {
  if (version === null) return [colors.cyan(`  ── ${title}: no such file`)];
  const { text, bytes, oid, mode } = version;
  const head = colors.cyan(`  ── ${title} (${bytes} bytes, mode ${mode}, ${oid.slice(0, 10)})`);
  if (text === null) return [head, '  not shown: large, or not text'];
  if (text === '') return [head];
  const lines = plain(text).replace(/\n$/, '').split('\n');
  const more = lines.length - maxLines;
  return [
    head,
    ...lines.slice(0, maxLines).map((line) => `  │ ${line}`),
    ...(more > 0 ? [`  … ${more} more lines (--json has them all)`] : []),
  ];
}

/** Each validator with its result and output. */
export const validationText = ({ results }: Pick<Validation, 'results'>, colors: Colors): string[] =>
  results.flatMap((result) => {
    const passed = result.status === 'passed';
    const how = passed ? colors.green(result.status) : colors.red(result.status.replace('_', ' '));
    const why = result.detail ?? (passed ? undefined : `exit code ${result.exit_code}`);
    const name = result.name === result.command ? '' : `${oneLine(result.name)}: `;
    return [
      `${how}  ${name}${colors.bold(oneLine(result.command))} (${why === undefined ? '' : `${oneLine(why)}, `}${duration(result.duration_ms)})`,
      ...outputLines('stdout', result.stdout, result.stdout_bytes),
      ...outputLines('stderr', result.stderr, result.stderr_bytes),
    ];
  });

function outputLines(name: string, text: string, bytes: number): string[] {
  if (text === '') return [];
  const kept = Buffer.byteLength(text);
  const lines = plain(text).replace(/\n$/, '').split('\n');
  return [
    ...(kept < bytes ? [`  ${name}: ${bytes} bytes; only the head and the tail were kept`] : []),
    ...lines.map((line) => `  ${name} | ${line}`),
  ];
}
