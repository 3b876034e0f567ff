import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defaultTenant, secretNameSchema } from '@holdpoint/contract';
import { SecretError } from '../errors.ts';
import { checkValue, type SecretInfo, type SecretProvider } from '../port.ts';
import { checkPrivateFolder, readPrivateFile } from '../private-path.ts';

/**
 * Secrets of the operator in files: `<folder>/<NAME>` belongs to the first tenant, `<folder>/<tenant>/<NAME>` to the others. Each file has
 * the mode 0600 and belongs to this user; a final line end does not count. A file may be replaced while programs run.
 * @throws SecretError naming the file and the repair command
 */
export function fileSecrets(folder: string): SecretProvider {
  const folderOf = (tenant: string) => (tenant === defaultTenant ? folder : join(folder, tenant));
  const tenants = () => [defaultTenant, ...entries(folder).flatMap((one) => (one.isDirectory() ? [one.name] : []))];
  const namesOf = (tenant: string) =>
    entries(folderOf(tenant)).flatMap((one) => (one.isDirectory() || one.name.startsWith('.') ? [] : [one.name]));
  const resolve = (name: string, { tenant }: { tenant: string }): string | undefined => {
    const path = join(folderOf(tenant), name);
    try {
      const { content } = readPrivateFile(path);
      return checkValue(decode(content, path).replace(/\r?\n$/, ''), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };
  const check = () => {
    for (const tenant of tenants()) {
      checkPrivateFolder(folderOf(tenant));
      for (const name of namesOf(tenant)) {
        if (!secretNameSchema.safeParse(name).success) throw noName(join(folderOf(tenant), name));
        resolve(name, { tenant });
      }
    }
  };
  check();
  return {
    tenants,
    list: (tenant) => namesOf(tenant).map((name) => describe(join(folderOf(tenant), name), name)),
    resolve,
    stamp: () =>
      tenants()
        .flatMap((tenant) => namesOf(tenant).map((name) => stampOf(join(folderOf(tenant), name))))
        .join('\n'),
  };
}

function entries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    const next = 'Create the folder with the mode 0700, or correct HOLDPOINT_SECRETS_DIR.';
    throw new SecretError('ESECRETACCESS', `${folder} cannot be read (${code}).`, { next, cause });
  }
}

function describe(path: string, name: string): SecretInfo {
  const updated = statSync(path, { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
  return { name, source: 'file', version: null, updated_at: updated };
}

export function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? '' : `${path} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

function decode(content: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    const next = 'Store it as text, for example in base64.';
    throw new SecretError('ESECRETVALUE', `${path} is not UTF-8 text.`, { next, cause });
  }
}

function noName(path: string): SecretError {
  const next = 'Rename it (a letter, then letters, digits and underscores), or move it out of the folder.';
  return new SecretError('ESECRETACCESS', `${path} is in the folder of secrets, and its name is no name of a secret.`, {
    next,
  });
}
