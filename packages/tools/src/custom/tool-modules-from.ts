import { ToolsError } from '../errors.ts';

/**
 * The modules in HOLDPOINT_TOOLS, separated by commas.
 * @throws ToolsError `ETOOLMODULE` for a relative path and for a repeated module
 */
export function toolModulesFrom(env: Readonly<Record<string, string | undefined>>): string[] {
  const modules = (env.HOLDPOINT_TOOLS ?? '')
    .split(',')
    .map((specifier) => specifier.trim())
    .filter((specifier) => specifier !== '');
  for (const [index, specifier] of modules.entries()) {
    // The programs have different working directories.
    if (/^\.{1,2}(\/|$)/.test(specifier)) {
      throw refused(`${specifier} is a relative path`, 'Write an absolute path, or the name of an installed package.');
    }
    if (modules.indexOf(specifier) < index) throw refused(`${specifier} is named twice`, 'Name it once.');
  }
  return modules;
}

const refused = (why: string, next: string): ToolsError =>
  new ToolsError('ETOOLMODULE', `HOLDPOINT_TOOLS: ${why}.`, next);
