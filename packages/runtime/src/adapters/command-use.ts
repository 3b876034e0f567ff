import type { CommandResult, CommandUse, SecretScope } from '@holdpoint/contract';
import type { EgressProxy } from '@holdpoint/egress';
import type { Secrets } from '@holdpoint/secrets';

/** Resource use of all commands of a call. The exit code is the exit code of the last command. */
export class CallUse {
  #use: CommandUse | undefined;

  add(result: CommandResult): void {
    const one = useOf(result);
    const before = this.#use;
    this.#use = {
      exit_code: one.exit_code,
      cpu_ms: sum(before?.cpu_ms, one.cpu_ms),
      memory_bytes: Math.max(before?.memory_bytes ?? 0, one.memory_bytes ?? 0) || undefined,
      output_bytes: sum(before?.output_bytes, one.output_bytes),
    };
  }

  /** Undefined: the call ran no command. */
  total(): CommandUse | undefined {
    return this.#use;
  }
}

export const useOf = ({ end, stdout, stderr, use }: CommandResult): CommandUse => ({
  exit_code: end.status === 'exited' ? end.exit_code : null,
  ...use,
  output_bytes: stdout.bytes + stderr.bytes,
});

const sum = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined ? b : a + (b ?? 0));

/**
 * Environment variables of a command, with the values of secrets. Call `secretVariables` just before the command starts. @throws
 * SecretError
 */
export function secretVariables(secrets: Secrets, { tenant, secrets: uses }: SecretScope): Record<string, string> {
  return Object.fromEntries(
    uses.flatMap(({ name, as }) => ('env' in as ? [[as.env, secrets.resolve(name, { tenant })] as const] : [])),
  );
}

/** The value of the secret behind `$ENV.NAME`. @throws SecretError */
export const placeholderOf =
  (secrets: Secrets, { tenant, secrets: uses }: SecretScope) =>
  (name: string): string | undefined =>
    uses.some((use) => use.name === name && 'placeholder' in use.as) ? secrets.resolve(name, { tenant }) : undefined;

/** Names of the secrets for the commands of the run. */
export const secretsOfCommands = ({ secrets: uses }: SecretScope): string[] => [
  ...new Set(uses.flatMap(({ name, as }) => ('env' in as || 'header' in as ? [name] : []))),
];

type Output = { write(stream: 'stdout' | 'stderr', chunk: Buffer): void };

/** Refusals of a command's proxy, as lines of output: programs report at most the status 403 of a proxy. */
export function refusalNotes(proxy: Pick<EgressProxy, 'refusals'> | undefined): string {
  return (proxy?.refusals ?? []).map((line) => `[holdpoint] ${line}\n`).join('');
}

/** Adds the notes to the end of a command's output, and shows the notes to watchers of the output. */
export function withRefusals<Result extends Pick<CommandResult, 'stdout' | 'stderr'>>(
  result: Result,
  { proxy, to, watch }: { proxy: EgressProxy | undefined; to: 'stdout' | 'stderr'; watch?: Output | undefined },
): Result {
  const notes = refusalNotes(proxy);
  if (notes === '') return result;
  watch?.write(to, Buffer.from(notes));
  const { [to]: printed } = result;
  const text = `${printed.text}${printed.text === '' || printed.text.endsWith('\n') ? '' : '\n'}${notes}`;
  return { ...result, [to]: { ...printed, text, bytes: printed.bytes + Buffer.byteLength(notes) } };
}
