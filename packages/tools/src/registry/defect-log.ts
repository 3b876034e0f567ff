/** Where defects of toolsets are reported. pino fits. */
export interface DefectLog {
  error(fields: object, message: string): void;
}

/** Reports each defect of a tool once per process: a list of results has the same defect in every row. */
export function onlyOnce(log: DefectLog): DefectLog {
  const seen = new Set<string>();
  return {
    error(fields, message) {
      const key = JSON.stringify([message, { ...fields, err: undefined }]);
      if (seen.has(key)) return;
      if (seen.size < mostSeen) seen.add(key);
      log.error(fields, message);
    },
  };
}

const mostSeen = 1000;

export const noLog: DefectLog = { error: () => {} };
