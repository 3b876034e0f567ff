import type { Validation } from '@holdpoint/contract/wire';
import type { Colors } from './colors.ts';
import { oneLine, plain } from './plain.ts';
import { duration } from './time.ts';

/** Each validator with its result and output. */
export function validationText({ results }: Pick<Validation, 'results'>, colors: Colors): string[] {
  return results.flatMap((result) => {
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
}

function outputLines(name: string, text: string, bytes: number): string[] {
  if (text === '') return [];
  const kept = Buffer.byteLength(text);
  const lines = plain(text).replace(/\n$/, '').split('\n');
  return [
    ...(kept < bytes ? [`  ${name}: ${bytes} bytes; only the head and the tail were kept`] : []),
    ...lines.map((line) => `  ${name} | ${line}`),
  ];
}
