type Refresh = () => Promise<unknown>;

const refreshes = new Set<Refresh>();

/** A page that does not answer must not keep the frame from showing the engine's state. */
const LONGEST_WAIT_MS = 5000;

/** Registers a function that reloads a part of the page. Returns a function that removes it. */
export function onRefresh(refresh: Refresh): () => void {
  refreshes.add(refresh);
  return () => refreshes.delete(refresh);
}

/** Reloads the parts that show work; resolves when nothing on the page is older than this call. */
export async function refreshPage(): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise((done) => (timer = setTimeout(done, LONGEST_WAIT_MS)));
  await Promise.race([Promise.allSettled([...refreshes].map((refresh) => refresh())), tooLong]);
  clearTimeout(timer);
}
