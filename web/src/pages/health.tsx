import { useState } from "preact/hooks";
import type { HealthDocument } from "../../../src/views/board/dashboard.ts";
import { Filter } from "../parts/filter.tsx";
import { Loading } from "../parts/loading.tsx";
import { Badge } from "../parts/marks.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** What the work stands on: programs, config, agents; each problem with its fix, each setting with its origin. */
export function Health() {
  useTitle("Settings");
  const loaded = useDocument<HealthDocument>("/health", () => false);
  return (
    <>
      <h1>Settings</h1>
      <div class="tools">
        <button type="button" onClick={loaded.reload}>
          Refresh
        </button>
      </div>
      <Loading loaded={loaded}>
        {(health) => (
          <>
            <section>
              <h2>Checks</h2>
              <ul class="probes">
                {[...health.probes]
                  .sort((a, b) => Number(a.ok) - Number(b.ok))
                  .map(({ name, ok, detail, fix }) => (
                    <li key={name}>
                      <Badge word={ok ? "pass" : "fail"} label={ok ? "OK" : "problem"} />
                      <div>
                        <strong>{name}</strong> <span class="muted">{detail}</span>
                        {!ok && <p>{fix}</p>}
                      </div>
                    </li>
                  ))}
              </ul>
            </section>
            <Config health={health} />
          </>
        )}
      </Loading>
    </>
  );
}

function Config({ health: { config } }: { readonly health: HealthDocument }) {
  const [query, setQuery] = useState("");
  const shown = config.filter(({ path, origin }) => `${path} ${origin}`.includes(query));
  return (
    <section>
      <h2>Effective settings</h2>
      <Filter label="Filter settings" value={query} onInput={setQuery} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Settings">
        <table>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ path, value, origin }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>
                  <code>{value}</code>
                </td>
                <td class="muted">{origin}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
