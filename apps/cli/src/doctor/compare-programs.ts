import type { Finding } from './finding.ts';

/** A running program and the settings it was started with. */
export interface Started {
  who: string;
  text: string;
}

/**
 * Compares one setting of all programs, and of this shell when it sets the variables.
 *
 * @param input.here the setting of this shell; undefined when it sets none of the variables
 */
export function comparePrograms(input: {
  name: string;
  variables: readonly string[];
  programs: readonly Started[];
  here: string | undefined;
}): Finding {
  const { name, programs, here } = input;
  const variables = input.variables.join(', ');
  const settings = [...new Set(programs.map(({ text }) => text))];
  const [first = ''] = settings;
  if (settings.length > 1) {
    const text = programs.map((one) => `${one.who}: ${one.text}`).join('\n');
    return { name, level: 'warn', text, next: `Start the API and all workers with the same ${variables}.` };
  }
  if (here === undefined || here === first) return { name, level: 'ok', text: first };
  return {
    ...{ name, level: 'warn', text: `the running programs have: ${first}\nthis shell has: ${here}` },
    next: `Start it again from this shell, or unset ${variables} here.`,
  };
}
