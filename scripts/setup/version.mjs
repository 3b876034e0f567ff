/**
 * Compares dotted versions number by number, without a suffix after `-` or `+`.
 *
 * @param {string} version such as `v22.22.0`
 * @param {string} minimum such as `22.22`
 */
export function isAtLeast(version, minimum) {
  const have = numbers(version);
  const want = numbers(minimum);
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** @param {string} version */
function numbers(version) {
  const [release = ''] = version.replace(/^v/, '').split(/[-+]/);
  return release.split('.').map(Number);
}
