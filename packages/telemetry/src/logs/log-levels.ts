/** pino's levels, with their numbers in OpenTelemetry. */
const severities = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const;
const numbers = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' } as const;

export const levelName = (level: number): keyof typeof severities => numbers[level as keyof typeof numbers] ?? 'info';

export function severityOf(level: number): { severityNumber: number; severityText: string } {
  const name = levelName(level);
  return { severityNumber: severities[name], severityText: name };
}
