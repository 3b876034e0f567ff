import type { RunSpec } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';

/**
 * The spec completed by its toolset: the defaults of settings, the toolset's permissions when the run names none, and the toolset's
 * protected paths.
 * @throws TypeError when the settings are wrong: the caller has to check them before
 */
export function withToolset(catalog: EngineDeps['catalog'], spec: RunSpec): RunSpec {
  const checked = catalog.checkSettings(spec.toolset, spec.settings);
  if (!checked.ok) {
    const mistakes = checked.errors.map(({ pointer, detail }) => `/settings${pointer}: ${detail}`);
    throw new TypeError(`the settings cannot be used: ${mistakes.join('; ')}`);
  }
  const { permissions, protected: paths } = catalog.grants(spec.toolset);
  return {
    ...spec,
    settings: checked.settings,
    permissions: spec.permissions ?? (permissions && [...permissions]),
    protected: [...new Set([...spec.protected, ...paths])],
  };
}
