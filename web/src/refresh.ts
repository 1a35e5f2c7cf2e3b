type Refresh = () => Promise<unknown>;

const refreshes = new Set<Refresh>();

/** A page that does not answer must not keep the frame from saying what it knows. */
const LONGEST_WAIT_MS = 5000;

/** Registers how a part of the page is loaded again. Returns how to stop it. */
export function onRefresh(refresh: Refresh): () => void {
  refreshes.add(refresh);
  return () => refreshes.delete(refresh);
}

/** Loads again what shows work: resolves when nothing on the page is older than this call. */
export async function refreshPage(): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise((done) => (timer = setTimeout(done, LONGEST_WAIT_MS)));
  await Promise.race([Promise.allSettled([...refreshes].map((refresh) => refresh())), tooLong]);
  clearTimeout(timer);
}
