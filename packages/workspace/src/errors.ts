/** Every failure of a workspace: the stable code, whether the same call may succeed later, and the next step. */
const registry = {
  ESOURCEMISSING: { retryable: false, next: 'Check the path; it must exist on the host of the worker.' },
  ESOURCENOTDIRECTORY: { retryable: false, next: 'Give the absolute path of a directory.' },
  ESOURCENOTGIT: {
    retryable: false,
    next: 'Give the top folder of a git work tree or a bare repository, or use a source of type directory.',
  },
  ESOURCEFORMAT: { retryable: false, next: 'Use a repository with SHA-1 object ids, or a source of type directory.' },
  ESOURCEPARTIAL: {
    retryable: false,
    next: 'Fetch the missing objects: git fetch --refetch --no-filter (git 2.36 or newer), or clone without --filter.',
  },
  ESOURCESPARSE: {
    retryable: false,
    next: 'Name what the run needs, such as include: ["src"], or run git sparse-checkout disable.',
  },
  ESOURCENOTARCHIVE: { retryable: false, next: 'Give the absolute path of a .tar, .tar.gz or .zip file.' },
  EARCHIVE: {
    retryable: false,
    next: 'Create the archive again, with paths relative to its top, and submit the run again.',
  },
  EGLOBINVALID: { retryable: false, next: 'Write globs relative to the workspace, such as src/** or *.log.' },
  ESOURCETOOLARGE: {
    retryable: false,
    next: 'Select fewer files with include or exclude, or raise HOLDPOINT_SOURCE_BYTES.',
  },
  ESOURCEPATHS: {
    retryable: false,
    next: 'Leave such paths out with exclude, or shorten them in the source: a workspace holds 200 folders in each other, names of 255 bytes and paths of 3,840 bytes.',
  },
  ESOURCEUNREADABLE: { retryable: false, next: 'Let the user that runs the worker read the source.' },
  ESOURCEINDATADIR: { retryable: false, next: 'Use a source outside the data directory.' },
  ESOURCEFORBIDDEN: {
    retryable: false,
    next: 'Use a directory of a project: below a home, /srv, /opt, /workspaces or a temporary directory, and within HOLDPOINT_SOURCE_ROOTS where the operator has set it.',
  },
  ESOURCEFOLDER: {
    retryable: false,
    next: 'Name folders in the work tree of the source that are no part of its files, such as an ignored node_modules.',
  },
  ESOURCEFOLDERLOST: {
    retryable: false,
    next: 'Put the folder back where the source had it, readable for all users (in most projects: install its packages again), and resume the run.',
  },
  ESOURCEBROKEN: {
    retryable: false,
    next: 'Check the repository with git fsck, restore missing objects (git fetch --refetch), and submit the run again.',
  },
  EPUBLISHFORBIDDEN: {
    retryable: false,
    next: 'Nothing was written. Download the patch or the files, or have the operator change HOLDPOINT_PUBLISH_ROOTS.',
  },
  EREMOTEFORBIDDEN: {
    retryable: false,
    next: 'Use an https URL of a public host, or have the operator open this host (HOLDPOINT_GIT_HOSTS; HOLDPOINT_ALLOW_ADDRESSES for a private address).',
  },
  EREMOTEAUTH: {
    retryable: false,
    next: 'Check the URL, and that credentials.secret names a token (https) or a private key (ssh) that may do this.',
  },
  EREMOTEMISSING: {
    retryable: false,
    next: 'Check the URL. Many hosts say the same of a repository that needs credentials.',
  },
  EREMOTEHOSTKEY: {
    retryable: false,
    next: 'Give the keys of the host: known_hosts in the source, or HOLDPOINT_GIT_KNOWN_HOSTS. Compare them with what the host publishes.',
  },
  EREMOTETOOLARGE: {
    retryable: false,
    next: 'Ask for less history (history: 1), or have the operator raise HOLDPOINT_SOURCE_BYTES.',
  },
  EREMOTEREFUSED: {
    retryable: false,
    next: 'Nothing was pushed. Publish to another branch, or download the patch.',
  },
  EREMOTEOFF: {
    retryable: false,
    next: 'Use a source on the host of the worker.',
  },
  EREMOTEUNREACHABLE: { retryable: true, next: 'Check that the host is up and speaks TLS with a valid certificate.' },
  EREFUNKNOWN: { retryable: false, next: 'Give a branch, tag or commit that exists in the repository.' },
  ERUNIDINVALID: { retryable: false, next: 'Run ids have 1 to 128 letters, digits, "_" or "-".' },
  EPATHINVALID: { retryable: false, next: 'Give a path relative to the workspace, without ".." in it.' },
  EARCHIVEUNSAFE: { retryable: false, next: 'Download tar.gz, or name the files that you want (path=…).' },
  EPATHMISSING: { retryable: false, next: 'List the files of the snapshot, and name one of them.' },
  ECONTENTUNKNOWN: {
    retryable: false,
    next: 'Read the file inside the run (bash), let the run replace it with a smaller readable one, or name another file.',
  },
  EWORKSPACEMISSING: {
    retryable: false,
    next: 'Materialise the run first. A discarded workspace cannot be restored.',
  },
  ELEASESTALE: { retryable: false, next: 'Do nothing: another worker took the workspace over and continues the run.' },
  ELAYERLOST: { retryable: true, next: 'Do nothing: the tree is built again from the snapshot.' },
  EHEADMOVED: { retryable: true, next: 'Do nothing: the call is retried on a tree that was verified.' },
  EWORKSPACEBUSY: { retryable: true, next: 'Stop the processes that write to the workspace, then try again.' },
  EWORKSPACECORRUPT: { retryable: false, next: 'Restore the folder of the run from a backup, or discard the run.' },
  ESECRETWRITTEN: {
    retryable: false,
    next: 'Use the secret without writing it to a file, for example from its variable.',
  },
  ESNAPSHOTUNKNOWN: { retryable: false, next: 'Use the id of a snapshot that was taken in this run.' },
  ETOOMANYFILES: { retryable: false, next: 'Remove generated files from the tree, or raise the limit on entries.' },
  EDIFFTOOLARGE: {
    retryable: false,
    next: 'Ask for one path at a time, download the changed files as an archive, or ask for the JSON form, which counts what it does not show.',
  },
  ENOTPUBLISHABLE: { retryable: false, next: 'Download the patch, or the files as an archive.' },
  ECONFLICTGONE: {
    retryable: false,
    next: 'Approve to look at the source again: the next approval shows the conflict as it is then.',
  },
  EGITMISSING: { retryable: false, next: 'Install git 2.34 or newer, or configure the path to the executable.' },
  EGITREFUSED: {
    retryable: false,
    next: 'In a fork of the run, change the content that git refuses (often a .gitmodules with commands), and publish the fork.',
  },
  EIGNORERULES: {
    retryable: false,
    next: 'Simplify the .gitignore files in a fork of the run, or publish with include_ignored.',
  },
  EBRANCHINVALID: { retryable: false, next: 'Give the short name of a branch, such as feature/x.' },
  ESOURCEBUSY: { retryable: true, next: 'Wait until no other program writes to the source, then try again.' },
  EGITFAILED: { retryable: true, next: 'Read the message from git, repair the repository and try again.' },
  ENOSPC: {
    retryable: true,
    next: 'Free space on the disk of the data directory by discarding runs or removing other files. Then resume the run.',
  },
  EIO: { retryable: true, next: 'Check free space and permissions of the data directory, then try again.' },
} as const satisfies Record<string, { retryable: boolean; next: string }>;

export type WorkspaceErrorCode = keyof typeof registry;

/** A failure of this package. `message` has the event, `next` the next step. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly code: WorkspaceErrorCode;
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;
  readonly next: string;

  constructor(code: WorkspaceErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.retryable = registry[code].retryable;
    this.next = registry[code].next;
  }
}

/** The errno name of a system error (`ENOENT`), or undefined for any other value. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof WorkspaceError) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : undefined;
}

/** For `catch` of a promise: a fallback for these errors, ENOENT by default; any other error is thrown. */
export const unlessMissing =
  <T>(fallback: T, errnos: readonly string[] = ['ENOENT']) =>
  (error: unknown): T => {
    if (errnos.includes(errnoOf(error) ?? '')) return fallback;
    throw error;
  };
