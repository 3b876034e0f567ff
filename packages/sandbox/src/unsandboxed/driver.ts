import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilGone } from '../process/gone.ts';
import { identify } from '../process/identity.ts';
import type { ProcessRecords } from '../process/records.ts';
import type { CapabilityReport } from '../port.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Driver, Tree, TreeEnd, TreeRequest } from '../tree.ts';
