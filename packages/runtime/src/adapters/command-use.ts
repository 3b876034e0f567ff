import type { CommandResult, CommandUse } from '@holdpoint/contract';

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
