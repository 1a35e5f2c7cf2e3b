/** JSON as it is kept in files: two spaces, one newline at the end, so that a diff of it can be read. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A moment as S1 and S3 write it: UTC, to the second, with a Z. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
