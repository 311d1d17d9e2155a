// Numbers and times for people. Times are in UTC, as everywhere in kymo.

const whole = new Intl.NumberFormat("en-US");

/** 1234567 → 1,234,567 */
export const count = (number) => whole.format(Math.round(number ?? 0));

/** 12345.6 → 12.3 k; below 10,000 with its digits. */
export function short(number) {
  for (const [size, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) {
    if (number >= size) return (number / size).toFixed(1) + " " + unit;
  }
  if (number >= 1e4) return (number / 1e3).toFixed(1) + " k";
  return number > 0 && number < 10 && !Number.isInteger(number) ? number.toFixed(1) : count(number);
}

export const bytes = (number) => short(number) + "B";

/** Seconds → 5 s, 3 min, 2 h, 4 d */
export function age(seconds) {
  const value = Math.max(0, Math.round(seconds));
  if (value < 120) return value + " s";
  if (value < 7200) return Math.round(value / 60) + " min";
  if (value < 172800) return Math.round(value / 3600) + " h";
  return Math.round(value / 86400) + " d";
}

/** 2026-03-01T08:00:00.123Z → 2026-03-01 08:00:00 */
export const time = (text) => (text ?? "").replace("T", " ").replace(/(\.\d+)?(Z|\+00:00)?$/, "");

/** A Date → 08:00:00 */
export const clock = (date) => date.toISOString().slice(11, 19);

/** 1 letter, 2 letters */
export const counted = (number, noun, nouns = noun + "s") => `${count(number)} ${number === 1 ? noun : nouns}`;
