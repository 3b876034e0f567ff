import type { Settings } from '@holdpoint/contract';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/**
 * The settings of a toolset with its defaults. They stand at `settings` of the request, or of its part `at`.
 * @throws ApiProblem `invalid_settings`
 */
export function checkSettings(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  { toolset, settings }: { toolset: string; settings: Settings },
  at = '',
): Settings {
  const checked = catalog.checkSettings(toolset, settings);
  if (checked.ok) return checked.settings;
  const errors = checked.errors.map(({ pointer, detail }) => ({ pointer: `${at}/settings${pointer}`, detail }));
  const [first] = errors;
  throw new ApiProblem('invalid_settings', `${first?.pointer}: ${first?.detail}`, { errors });
}
