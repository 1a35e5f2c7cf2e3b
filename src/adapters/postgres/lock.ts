/** `REMA`, as in the file of a local journal: the first half of each advisory lock's key. The second is its own. */
export const LOCK = 0x52454d41;
