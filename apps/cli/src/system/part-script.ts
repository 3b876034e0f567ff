import { join } from 'node:path';

/** The program of a part of the system. The bundle for tests has the bundled parts instead. */
export const partScript = (projectDir: string, app: 'api' | 'worker'): string =>
  join(projectDir, 'apps', app, 'src/main.ts');
