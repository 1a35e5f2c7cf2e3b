/** A time in the person's time zone: `2026-02-22 15:30:05 GMT+1`. */
export function localTime(atMs: number): string {
  const at = new Date(atMs);
  return `${localDate(at)} ${clockTime(atMs)} ${zoneOf(at)}`;
}

/** The time of day only, where the date is clear. */
export function clockTime(atMs: number): string {
  const at = new Date(atMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(":");
}

const localDate = (at: Date): string =>
  [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join("-");

const twoDigits = (value: number): string => String(value).padStart(2, "0");

const zoneFormat = new Intl.DateTimeFormat("en", { timeZoneName: "short" });

const zoneOf = (at: Date): string =>
  zoneFormat.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
