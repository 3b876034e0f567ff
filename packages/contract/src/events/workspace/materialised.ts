import { lfsPointersSchema } from '../../absent-content.ts';
import { toolchainSchema } from '../../toolchain.ts';
import { event, short, snapshotIdSchema, z } from '../event.ts';

export const workspaceMaterialised = event('workspace.materialised', {
  data: {
    snapshot: snapshotIdSchema,
    base: snapshotIdSchema
      .optional()
      .describe('The snapshot that the change set is counted from, when it is another one'),
    base_commit: z.string().nullable(),
    began_at: z.iso.datetime().optional().describe('When the copy began'),
    files: z.int(),
    bytes: z.int(),
    skipped: z.int(),
    submodules: z.array(z.strictObject({ path: z.string(), commit: z.string() })).optional(),
    lfs_pointers: lfsPointersSchema.optional(),
    toolchains: z.array(toolchainSchema).optional().describe('What commands of the run find as node and python3'),
    prepare: z.literal(true).optional().describe('The commands of `prepare` run before the first turn'),
  },
  line({ data: { files, bytes, base_commit, submodules = [], lfs_pointers } }, { counted, name }) {
    const commit = base_commit === null ? '' : ` of commit ${short(base_commit)}`;
    const named = submodules.slice(0, 3).map(({ path }) => name(path));
    const more = submodules.length > named.length ? `, and ${submodules.length - named.length} more` : '';
    const empty = named.length === 0 ? '' : `; without the files of its submodules (${named.join(', ')}${more})`;
    const pointers =
      lfs_pointers === undefined ? '' : `; ${counted(lfs_pointers.files, 'file')} under git-lfs without content`;
    return `${counted(files, 'file')}, ${counted(bytes, 'byte')}${commit}${empty}${pointers}`;
  },
});
