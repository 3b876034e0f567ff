import { z } from 'zod';
import { WorkspaceError } from '../errors.ts';
import { fromText, toText } from '../files/index.ts';
import * as workspaceRecord from '../run-folder/workspace-record.ts';
import { type Folder, find } from '../store/objects/index.ts';
import { gitPermissions, isSamePermissions, type Permissions } from './permissions.ts';

/** Facts outside of a git tree: skipped paths, empty folders and permission bits. Stored in the snapshot's commit message. */
export interface Manifest {
  /** By byte path. */
  readonly skipped: ReadonlyMap<string, workspaceRecord.Skipped>;
  /** Byte paths of folders without any entry. */
  readonly empty: readonly string[];
  readonly permissions: Permissions;
  /** Commit of the `.git` entries; see `repositories.ts`. */
  readonly repositories: string | undefined;
}

const bits = z.int().min(0).max(0o777);
const manifestSchema = z.strictObject({
  skipped: workspaceRecord.skipsSchema,
  empty: z.array(z.string()),
  /** When absent, git's own. */
  permissions: z
    .strictObject({
      usual: z.strictObject({ file: bits, executable: bits, folder: bits }),
      /** Paths by their bits, in octal digits. */
      others: z.record(z.string().regex(/^[0-7]{1,3}$/), z.array(z.string())),
    })
    .optional(),
  repositories: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional(),
});

const label = 'Holdpoint-Manifest: ';

/** The commit message of a snapshot. The last line is always the manifest, whatever the given message contains. */
export function snapshotMessage(message: string, manifest: Manifest): string {
  const { permissions, repositories } = manifest;
  const line = JSON.stringify({
    skipped: workspaceRecord.toSkips(manifest.skipped),
    empty: manifest.empty.map(toText),
    permissions: permissions === gitPermissions ? undefined : permissionsToJson(permissions),
    repositories,
  });
  return `${message.trim() || 'snapshot'}\n\n${label}${line}`;
}

/** Reads the manifest back from a snapshot's commit message. */
export function readManifest(message: string): Manifest {
  const lines = message.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  if (!last.startsWith(label)) throw new WorkspaceError('ESNAPSHOTUNKNOWN', 'The commit is not a snapshot.');
  const { skipped, empty, permissions, repositories } = manifestSchema.parse(JSON.parse(last.slice(label.length)));
  return {
    skipped: workspaceRecord.fromSkips(skipped),
    empty: empty.map(fromText),
    permissions: permissions === undefined ? gitPermissions : permissionsFromJson(permissions),
    repositories,
  };
}

function permissionsToJson({ usual, others }: Permissions): z.infer<typeof manifestSchema>['permissions'] {
  const byBits = Map.groupBy([...others.keys()].sort(), (path) => (others.get(path) ?? 0).toString(8));
  return { usual, others: Object.fromEntries([...byBits].map(([octal, paths]) => [octal, paths.map(toText)])) };
}

function permissionsFromJson({
  usual,
  others,
}: NonNullable<z.infer<typeof manifestSchema>['permissions']>): Permissions {
  const entries = Object.entries(others).flatMap(([octal, paths]) => {
    return paths.map((path) => [fromText(path), Number.parseInt(octal, 8)] as const);
  });
  return { usual, others: new Map(entries) };
}

/** The skipped paths of a tree, and the paths left out of the copy and still absent. */
export function withLeftOut(
  skipped: Manifest['skipped'],
  input: { root: Folder; leftOut: workspaceRecord.Skips },
): Manifest['skipped'] {
  const absent = [...workspaceRecord.fromSkips(input.leftOut)].filter(
    ([path]) => find(input.root, path.split('/')) === undefined,
  );
  return new Map([...absent, ...skipped]);
}

export function isSameManifest(a: Manifest, b: Manifest): boolean {
  return (
    a.repositories === b.repositories &&
    isSamePermissions(a.permissions, b.permissions) &&
    a.empty.length === b.empty.length &&
    a.empty.every((path, index) => path === b.empty[index]) &&
    a.skipped.size === b.skipped.size &&
    [...a.skipped].every(([path, skip]) => workspaceRecord.isSameSkip(b.skipped.get(path), skip))
  );
}
