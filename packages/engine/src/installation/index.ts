export { checkDataDirFormat, checkFormat } from './check-format.ts';
export { InstallationError } from './error.ts';
export { adoptInstallation, bindInstallation, checkAdoptable } from './installation.ts';
export { migrate, pendingMigrations } from './migrations/migrate.ts';
export { dataFormat, type Migration } from './migrations/migrations.ts';
export { countUnknownRuns, type InstallationState, readInstallation } from './read-installation.ts';
export type { Sides } from './sides.ts';
export { markHistory, watchHistory } from './watch-history.ts';
export { confirmInstallation, watchInstallation } from './watch-installation.ts';
