/** `1 story`, `2 stories`: how many of what, in words that fit the number. */
export const counted = (count: number, one: string, many?: string): string => `${count} ${plural(count, one, many)}`;

/** The word alone, where the number is written in another way or elsewhere. */
export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);
