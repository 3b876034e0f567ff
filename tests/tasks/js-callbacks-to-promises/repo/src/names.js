/** An error for a name that a note cannot have. */
export function checkName(name) {
  return /^[a-z0-9-]+$/.test(name) ? undefined : new TypeError(`not a name: ${name}`);
}
