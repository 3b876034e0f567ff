import type { FileErrorCode } from '@holdpoint/contract';

/** Refuses an operation. The worker turns a refusal into a `FileError`. */
export class Refusal extends Error {
  readonly code: FileErrorCode;

  constructor(code: FileErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const meanings: Record<string, [FileErrorCode, string]> = {
  ENOENT: ['ENOENT', 'no such file or directory'],
  ENOTDIR: ['ENOTDIR', 'a part of the path is not a directory'],
  EISDIR: ['EISDIR', 'it is a directory'],
  EEXIST: ['EEXIST', 'it exists already'],
  ENOTEMPTY: ['ENOTEMPTY', 'the directory is not empty'],
  EACCES: ['EACCES', 'permission denied'],
  EPERM: ['EACCES', 'permission denied'],
  EROFS: ['EROFS', 'it is read-only'],
  // The only other mounts in a workspace are read-only folders of its source.
  EXDEV: ['EROFS', 'one of the two folders is read-only'],
  ETXTBSY: ['EACCES', 'a running program'],
  EBUSY: ['EACCES', 'in use'],
  ENAMETOOLONG: ['ENAMETOOLONG', 'the name is too long'],
  ELOOP: ['ELOOP', 'too many symbolic links'],
  ENOSPC: ['ENOSPC', 'no space left'],
  EDQUOT: ['ENOSPC', 'the disk quota is used up'],
  EFBIG: ['EFBIG', 'the file would be too large'],
  ENXIO: ['ESPECIAL', 'not a regular file'],
};

/** Null for an error unrelated to the file, e.g. EIO or EMFILE. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  const meaning = meanings[(error as NodeJS.ErrnoException).code ?? ''];
  return meaning ? new Refusal(meaning[0], meaning[1]) : null;
}
