export { adoptCopy, checkCopy } from './adopt-copy.ts';
export { checkDataDirFormat, checkFormat } from './check-format.ts';
export { InstallationError } from './error.ts';
export { adoptInstallation, bindInstallation } from './installation.ts';
export { checkDataDirectory, makeDataDirectory } from './make-data-directory.ts';
export { migrate, pendingMigrations } from './migrations/migrate.ts';
export type { Migration } from './migrations/migration.ts';
export { dataFormat } from './migrations/migrations.ts';
export {
  confirmInstallation,
  countUnknownRuns,
  hasUnknownFormat,
  type InstallationState,
  readInstallation,
  watchInstallation,
} from './record.ts';
export { refuseCopy } from './refuse-copy.ts';
export type { Sides } from './sides.ts';
export { markHistory, watchHistory } from './watch-history.ts';
