import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { HealthDocument, SettingRow } from "../../../src/views/board/dashboard.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import { Filter } from "../parts/filter.tsx";
import { Loading } from "../parts/loading.tsx";
import { Badge } from "../parts/marks.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** Settings and checks of the environment: problems first, then the project's settings, then everything else. */
export function Health() {
  useTitle("Settings");
  const loaded = useDocument<HealthDocument>("/health", () => false, false);
  const problems = loaded.data?.probes.filter(({ ok }) => !ok).length ?? 0;
  return (
    <>
      <div class="head">
        <h1>Settings</h1>
        {loaded.data !== null && (
          <p class="summary">
            {problems === 0 ? (
              <Badge word="pass" label="No problem" />
            ) : (
              <Badge word="fail" label={countText(problems, "problem")} />
            )}
            <span>{countText(loaded.data.config.filter(({ isOwn }) => isOwn).length, "setting")} of your own</span>
          </p>
        )}
      </div>
      <div class="tools">
        <button type="button" onClick={loaded.reload}>
          Check again
        </button>
      </div>
      <Loading loaded={loaded}>
        {(health) => (
          <>
            <Checks probes={health.probes.filter(({ ok }) => !ok)} title="Problems" />
            <Settings
              title="What differs from the defaults"
              rows={health.config.filter(({ isOwn }) => isOwn)}
              none="This project uses the defaults of its preset."
            />
            <Checks probes={health.probes.filter(({ ok }) => ok)} title="Checks that passed" />
            <AllSettings rows={health.config} />
          </>
        )}
      </Loading>
    </>
  );
}

function Checks({ probes, title }: { readonly probes: HealthDocument["probes"]; readonly title: string }) {
  if (probes.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="rows probes">
        {probes.map(({ name, ok, detail, fix }) => (
          <li key={name}>
            <Badge word={ok ? "pass" : "fail"} label={ok ? "OK" : "problem"} />
            <strong>{name}</strong>
            <span class="muted">
              {detail}
              {!ok && <p>{fix}</p>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Long and rarely needed, so it is closed at first. */
function AllSettings({ rows }: { readonly rows: readonly SettingRow[] }) {
  const [query, setQuery] = useState("");
  const shown = rows.filter(({ path, value, origin }) => `${path} ${value} ${origin}`.includes(query));
  return (
    <details class="all-settings">
      <summary>
        <h2>Every setting and where it comes from</h2> <span class="muted">{rows.length}</span>
      </summary>
      <Filter label="Filter settings" value={query} onInput={setQuery} />
      <Settings title="Effective settings" rows={shown} none="No setting matches." />
    </details>
  );
}

interface SettingsProps {
  readonly title: string;
  readonly rows: readonly SettingRow[];
  readonly none: string;
}

function Settings({ title, rows, none }: SettingsProps) {
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table class="settings">
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ path, value, origin }) => (
                <tr key={path}>
                  <th scope="row">
                    <code>
                      {path.split(".").map((part, index) => (
                        <Fragment key={index}>
                          {index > 0 && (
                            <>
                              .<wbr />
                            </>
                          )}
                          {part}
                        </Fragment>
                      ))}
                    </code>
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
      )}
    </section>
  );
}
