// Checks of JSON against the types of the page. A `Checks<T>` has to name every field of `T`, so the compiler keeps these
// checks and the types together, and the tests keep them and the server together.

export type Check = (value: unknown, path: string) => string[];
export type Checks<T> = { [Key in keyof Required<T>]: Check };

const fault = (path: string, wanted: string, value: unknown) => [`${path}: ${JSON.stringify(value)?.slice(0, 60)} is not ${wanted}`];

export const text: Check = (value, path) => (typeof value === "string" ? [] : fault(path, "text", value));
export const number: Check = (value, path) => (typeof value === "number" ? [] : fault(path, "a number", value));
export const truth: Check = (value, path) => (typeof value === "boolean" ? [] : fault(path, "true or false", value));
export const anything: Check = () => [];

export const one =
  (...values: (string | number)[]): Check =>
  (value, path) =>
    values.includes(value as string) ? [] : fault(path, `one of ${values.join(", ")}`, value);

export const maybe =
  (check: Check): Check =>
  (value, path) =>
    value === null ? [] : check(value, path);

/** A field that may be left out. */
export const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? [] : check(value, path);

export const many =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value) ? value.flatMap((item, idx) => check(item, `${path}[${idx}]`)) : fault(path, "a list", value);

/** An object with exactly these fields. */
export function exactly<T>(checks: Checks<T>): Check {
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return fault(path, "an object", value);
    const fields = value as Record<string, unknown>;
    const known = Object.entries(checks) as [string, Check][];
    const wrong = known.flatMap(([key, check]) => check(fields[key], `${path}.${key}`));
    const extra = Object.keys(fields).filter((key) => !Object.hasOwn(checks, key));
    return [...wrong, ...extra.map((key) => `${path}.${key} is not known`)];
  };
}
