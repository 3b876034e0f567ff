import { createRegistry } from '@holdpoint/tools/registry';
import { holdpoint } from '@holdpoint/tools/toolsets/holdpoint';
