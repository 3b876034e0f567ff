const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `0 bytes`, `980 KiB`, `1.4 GiB` */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
