import type { GivenPolicy } from '@holdpoint/contract';
import { policyReferenceSchema } from '@holdpoint/contract';
import { readPolicy } from './read-policy.ts';

/**
 * Reads `--policy`: the name of a stored policy, `name@version`, or a file. A file is named with a slash or an extension.
 * @throws CliError `no_policy`, `invalid_policy`
 */
export async function givenPolicy(
  text: string,
  { environment }: { environment: Readonly<Record<string, string>> },
): Promise<GivenPolicy> {
  const [name = '', version] = text.split('@', 2);
  const reference = policyReferenceSchema.safeParse({
    name,
    ...(version !== undefined && { version: Number(version) }),
  });
  return reference.success ? reference.data : readPolicy({ file: text, environment });
}
